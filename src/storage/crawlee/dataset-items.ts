/**
 * The JSON of each item that is pushed: Crawlee sends objects, lists of objects, or JSON text of either.
 * @throws Error in Crawlee's words when an item is not a JSON object
 */
export function datasetItems(pushed: unknown): string[] {
  const items: unknown = typeof pushed === 'string' ? JSON.parse(pushed) : pushed;
  return (Array.isArray(items) ? items : [items]).map(itemJson);
}

function itemJson(pushed: unknown): string {
  const item: unknown = typeof pushed === 'string' ? JSON.parse(pushed) : pushed;
  if (Array.isArray(item))
    throw new Error(
      `Each dataset item can only be a single JSON object, not an array. Received: [${item.join(',\n')}]`,
    );
  if (typeof item !== 'object' || item === null)
    throw new Error(`Each dataset item must be a JSON object. Received: ${item}`);
  return JSON.stringify(item);
}
