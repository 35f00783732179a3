import common from './common.json';
import integrations from './integrations.json';
import overview from './overview.json';
import receipts from './receipts.json';
import review from './review.json';
import signIn from './sign-in.json';

export default { common, integrations, overview, receipts, review, signIn };
