import common from './common.json';
import integrations from './integrations.json';
import review from './review.json';
import signIn from './sign-in.json';

export default { common, integrations, review, signIn };
