import audit from './audit.json';
import common from './common.json';
import operator from './operator.json';
import signIn from './sign-in.json';

export default { audit, common, operator, signIn };
