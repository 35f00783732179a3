import { endServices } from './global-setup.ts';

export default endServices;
