export { until } from '@orders/test-services/until.ts';
