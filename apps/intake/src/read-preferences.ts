export { type Preferences, readPreferences } from '@orders/http';
