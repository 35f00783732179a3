import common from './common.json';
import overview from './overview.json';
import receipts from './receipts.json';
import signIn from './sign-in.json';

export default { common, overview, receipts, signIn };
