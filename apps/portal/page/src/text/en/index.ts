import common from './common.json';
import review from './review.json';
import signIn from './sign-in.json';

export default { common, review, signIn };
