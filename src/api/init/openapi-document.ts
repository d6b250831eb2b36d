import { isJsonObject, type JsonObject } from '../json-value.ts';

/** An OpenAPI 3 document whose references are followed where they are looked at. */
export class OpenApiDocument {
  readonly root: JsonObject;

  /** @throws OpenApiError when it is not OpenAPI 3 */
  constructor(root: unknown) {
    if (!isJsonObject(root)) throw new OpenApiError('it is no OpenAPI document: its root is no object');
    if (root.swagger !== undefined)
      throw new OpenApiError(
        `it is Swagger ${String(root.swagger)}: convert it to OpenAPI 3 first (npx swagger2openapi)`,
      );
    if (typeof root.openapi !== 'string' || !root.openapi.startsWith('3.'))
      throw new OpenApiError('it is no OpenAPI 3 document: it has no openapi: 3.x');
    this.root = root;
  }

  /** @returns the object, or the one its `$ref` leads to; `{}` when there is none (other files are not followed) */
  follow(value: unknown, depth = 0): JsonObject {
    if (!isJsonObject(value)) return {};
    const { $ref } = value;
    if (typeof $ref !== 'string') return value;
    if (!$ref.startsWith('#/') || depth > DEEPEST) return {};
    const target = $ref
      .slice(2)
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, key) => (isJsonObject(at) ? at[key] : undefined), this.root);
    return this.follow(target, depth + 1);
  }

  /** @returns the properties of an object schema, those of allOf included */
  properties(schema: unknown, depth = 0): JsonObject {
    const own = this.follow(schema);
    if (depth > DEEPEST) return {};
    const parts = Array.isArray(own.allOf) ? own.allOf.map((part) => this.properties(part, depth + 1)) : [];
    return Object.assign({}, ...parts, isJsonObject(own.properties) ? own.properties : {}) as JsonObject;
  }

  /** @returns the schema of the items, when it is a list's */
  itemsOf(schema: unknown): JsonObject | null {
    const own = this.follow(schema);
    const isList =
      own.type === 'array' || (Array.isArray(own.type) && own.type.includes('array')) || own.items !== undefined;
    return isList ? this.follow(own.items) : null;
  }
}

// References in a circle end here.
const DEEPEST = 10;

/** A document that no api can be made from. */
export class OpenApiError extends Error {
  override readonly name = 'OpenApiError';
}
