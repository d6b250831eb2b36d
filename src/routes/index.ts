import type { Route } from './define-route.ts';
import { practiceProduct } from './practice-product.ts';
import { practiceProducts } from './practice-products.ts';
import { practiceReviews } from './practice-reviews.ts';

/**
 * YOUR APIS. Copy _template.ts to a file of your API's name, change it, and list its routes here: `npm start` then
 * begins with their seeds. Take the practice API's three out when you no longer want them. docs/add-an-api.md walks
 * through it.
 */
export const routes: readonly Route[] = [practiceProducts, practiceProduct, practiceReviews];
