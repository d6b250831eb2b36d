import { isJsonObject, type JsonObject } from '../json-value.ts';
import { guessRecordPath } from '../record-selector.ts';
import type { OpenApiDocument } from './openapi-document.ts';

export type Parameter = { name: string; in: string; required: boolean; schema: JsonObject; example: unknown };

/** A GET that gives a list. */
export type ListOperation = {
  path: string;
  operation: JsonObject;
  parameters: Parameter[];
  /** JSONPath of the records. */
  recordPath: string;
  /** Schema of the body, and of one record. */
  bodySchema: JsonObject;
  recordSchema: JsonObject;
  responseHeaders: string[];
};

/** What is left out, and why. */
export type LeftOut = { path: string; reason: string };

/** @returns the operations that give lists, and the GETs that do not */
export function listOperations(document: OpenApiDocument): { lists: ListOperation[]; leftOut: LeftOut[] } {
  const lists: ListOperation[] = [];
  const leftOut: LeftOut[] = [];
  const paths = isJsonObject(document.root.paths) ? document.root.paths : {};
  for (const [path, value] of Object.entries(paths)) {
    const item = document.follow(value);
    if (!isJsonObject(item.get)) continue;
    const found = listOperation(document, { path, item, operation: item.get });
    if ('reason' in found) leftOut.push(found);
    else lists.push(found);
  }
  return { lists, leftOut };
}

function listOperation(
  document: OpenApiDocument,
  { path, item, operation }: { path: string; item: JsonObject; operation: JsonObject },
): ListOperation | LeftOut {
  if (operation.deprecated === true) return { path, reason: 'deprecated' };
  const response = successResponse(document, operation);
  const bodySchema = jsonSchemaOf(document, response);
  if (bodySchema === null) return { path, reason: 'gives no JSON' };
  const list = findList(document, bodySchema);
  if (list === null) return { path, reason: 'gives one record' };
  return {
    path,
    operation,
    parameters: parametersOf(document, item, operation),
    recordPath: list.path,
    bodySchema,
    recordSchema: list.items,
    responseHeaders: Object.keys(isJsonObject(response.headers) ? response.headers : {}).map((name) =>
      name.toLowerCase(),
    ),
  };
}

function successResponse(document: OpenApiDocument, operation: JsonObject): JsonObject {
  const responses = isJsonObject(operation.responses) ? operation.responses : {};
  const status = Object.keys(responses).find((code) => /^2(\d\d|XX)$/i.test(code)) ?? 'default';
  return document.follow(responses[status]);
}

function jsonSchemaOf(document: OpenApiDocument, response: JsonObject): JsonObject | null {
  const content = isJsonObject(response.content) ? response.content : {};
  const type = Object.keys(content).find((name) => /\bjson\b|\+json/i.test(name));
  const media = type === undefined ? {} : document.follow(content[type]);
  return media.schema === undefined ? null : document.follow(media.schema);
}

function findList(document: OpenApiDocument, schema: JsonObject): { path: string; items: JsonObject } | null {
  const items = document.itemsOf(schema);
  if (items !== null) return { path: '$[*]', items };
  // The same guess as for a response, made on a skeleton of one.
  const path = guessRecordPath(skeleton(document, schema, 0));
  if (path === '$') return null;
  const keys = [...path.matchAll(/\.(\w+)|\['([^']+)'\]/g)].map(([, plain, quoted]) => plain ?? quoted!);
  const listSchema = keys.reduce<JsonObject>((at, key) => document.follow(document.properties(at)[key]), schema);
  return { path, items: document.itemsOf(listSchema) ?? {} };
}

function skeleton(document: OpenApiDocument, schema: JsonObject, depth: number): unknown {
  if (document.itemsOf(schema) !== null) return isScalar(document, document.itemsOf(schema)!) ? ['x'] : [{}];
  const properties = document.properties(schema);
  if (Object.keys(properties).length === 0 || depth > 3) return 'x';
  const entries = Object.entries(properties).map(([key, value]) => [
    key,
    skeleton(document, document.follow(value), depth + 1),
  ]);
  return Object.fromEntries(entries);
}

function isScalar(document: OpenApiDocument, schema: JsonObject): boolean {
  return Object.keys(document.properties(schema)).length === 0 && schema.type !== undefined && schema.type !== 'object';
}

function parametersOf(document: OpenApiDocument, item: JsonObject, operation: JsonObject): Parameter[] {
  const all = [item.parameters, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
  const byName = new Map<string, Parameter>();
  for (const value of all) {
    const parameter = document.follow(value);
    if (typeof parameter.name !== 'string' || typeof parameter.in !== 'string') continue;
    byName.set(`${parameter.in}:${parameter.name}`, {
      name: parameter.name,
      in: parameter.in,
      required: parameter.required === true,
      schema: document.follow(parameter.schema),
      example: parameter.example,
    });
  }
  return [...byName.values()];
}
