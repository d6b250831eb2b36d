export { type ExactNumber, exactNumber } from '../core/exact-number.ts';
