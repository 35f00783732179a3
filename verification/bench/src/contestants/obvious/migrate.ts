export { makePlainTables as migrate } from '../plain-tables.ts';
