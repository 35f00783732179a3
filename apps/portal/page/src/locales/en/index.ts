import audit from './audit.json';
import common from './common.json';
import integrations from './integrations.json';
import operator from './operator.json';
import overview from './overview.json';
import receipts from './receipts.json';
import review from './review.json';
import signIn from './sign-in.json';

export default { audit, common, integrations, operator, overview, receipts, review, signIn };
