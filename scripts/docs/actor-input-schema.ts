import { z } from 'zod';
import { inputSchema } from '../../src/config/input-schema.ts';

type Property = Record<string, unknown> & { type: string; title: string; description: string };
type JsonSchema = {
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: string[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
};

/** What the form of an Actor's input needs beyond the schema in src/config. */
type Field = Record<string, unknown> & { key: string };
type Section = { caption: string; description: string; fields: readonly Field[] };

/** Keys of the input document that mean nothing in an Actor: files of the machine, and what its storage is. */
export const NOT_FOR_ACTORS = ['urlsFile', 'dataset', 'durability', 'refresh', 'export'];

const JSON_EDITOR = { editor: 'json' };

const SECTIONS: readonly Section[] = [
  {
    caption: 'What to crawl',
    description: 'A list of URLs, or an API that is declared by its resources, or both.',
    fields: [
      {
        key: 'startUrls',
        title: 'URLs',
        type: 'array',
        editor: 'requestListSources',
        description: 'URLs to fetch. A list may be linked or uploaded: one URL a line, CSV or JSON Lines.',
        prefill: [{ url: 'https://jsonplaceholder.typicode.com/posts' }],
      },
      { key: 'select', title: 'Records', prefill: '$[*]' },
      { key: 'api', title: 'API', ...JSON_EDITOR, description: 'An API by its resources: docs/api.md' },
      { key: 'urlColumn', title: 'URL column' },
      { key: 'sourceColumn', title: 'Source column' },
      { key: 'method', title: 'Method' },
      { key: 'body', title: 'Body', editor: 'textarea' },
      { key: 'routes', title: 'Routes of the code' },
    ],
  },
  {
    caption: 'Credentials',
    description: 'Stored encrypted, sent only where they are meant to go, in no log and no record.',
    fields: [
      { key: 'headers', title: 'Headers', ...JSON_EDITOR, isSecret: true, default: undefined },
      {
        key: 'secrets',
        title: 'Secrets',
        type: 'object',
        ...JSON_EDITOR,
        isSecret: true,
        description: 'Texts by name, such as {"API_TOKEN": "..."}: ${env:API_TOKEN} in API and Hosts stands for them',
      },
    ],
  },
  {
    caption: 'Pace',
    description: 'Without any of it, the limit of each host is found and 80 % of it is used.',
    fields: [
      { key: 'maxConcurrency', title: 'Requests in flight' },
      { key: 'maxRequestsPerMinute', title: 'Requests per minute' },
      { key: 'hosts', title: 'Hosts', ...JSON_EDITOR, prefill: { default: { maxConcurrency: 50 } } },
      { key: 'followHosts', title: 'Other hosts', editor: 'stringList' },
      { key: 'contact', title: 'Contact' },
      { key: 'userAgent', title: 'User-Agent' },
      { key: 'productToken', title: 'Name in robots.txt' },
      { key: 'httpClient', title: 'HTTP client', enumTitles: ['undici', 'got-scraping: looks like a browser'] },
    ],
  },
  {
    caption: 'Limits',
    description: 'What is left then can be fetched by resurrecting the run.',
    fields: [
      { key: 'maxRequestsPerCrawl', title: 'Requests' },
      { key: 'maxDurationSecs', title: 'Duration', unit: 's' },
      { key: 'maxFailures', title: 'Failed requests' },
      { key: 'maxFailureShare', title: 'Share of failed requests' },
      { key: 'maxWaitSecs', title: 'Wait for hosts', unit: 's' },
      { key: 'maxBodyBytes', title: 'Length of a response', unit: 'bytes' },
    ],
  },
  {
    caption: 'The run',
    description: 'How it ends, and where its queue is.',
    fields: [
      { key: 'failOnErrors', title: 'Fail on errors' },
      {
        key: 'queue',
        title: 'Queue',
        enumTitles: ['Automatic', 'File of the run: fastest, no charges', 'Request queue of the run'],
      },
      { key: 'blockPrivateAddresses', title: 'Refuse private addresses', default: true },
    ],
  },
];

/** @returns the input schema of the Actor, from the schema in src/config */
export function actorInputSchema(): object {
  const { properties } = z.toJSONSchema(inputSchema, { io: 'input', target: 'draft-7' }) as {
    properties: Record<string, JsonSchema>;
  };
  const entries = SECTIONS.flatMap(({ caption, description, fields }) =>
    fields.map(({ key, ...field }, index) => {
      const section = index === 0 ? { sectionCaption: caption, sectionDescription: description } : {};
      return [key, { ...propertyOf(properties[key] ?? {}, field), ...section }] as const;
    }),
  );
  return {
    title: 'Input of millrace',
    description: 'What to fetch, how fast, and with which credentials.',
    type: 'object',
    schemaVersion: 1,
    properties: Object.fromEntries(entries),
  };
}

function propertyOf(schema: JsonSchema, field: Record<string, unknown>): Property {
  const { isNullable, bare } = withoutNull(schema);
  const property: Record<string, unknown> = {
    title: field.title,
    type: bare.type,
    description: schema.description,
    ...limitsOf(bare),
    ...(isNullable ? { nullable: true } : {}),
    ...(bare.default === undefined || bare.default === null ? {} : { default: bare.default }),
    ...field,
  };
  const editor = property.editor ?? editorOf(property.type, bare);
  const known = Object.entries({ ...property, editor }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as Property;
}

/** zod writes "or null" in two ways. */
function withoutNull(schema: JsonSchema): { isNullable: boolean; bare: JsonSchema } {
  const { anyOf, type } = schema;
  if (Array.isArray(type)) return { isNullable: true, bare: { ...schema, type: type.find((name) => name !== 'null') } };
  const isNullable = anyOf?.some((choice) => choice.type === 'null') === true;
  return { isNullable, bare: isNullable ? { ...schema, ...anyOf.find((choice) => choice.type !== 'null') } : schema };
}

function limitsOf({ type, minimum, maximum, enum: values }: JsonSchema): object {
  if (values !== undefined) return { enum: values };
  if (type !== 'integer' && type !== 'number') return {};
  // What zod calls no limit is written out as the largest exact integer.
  const isLimit = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  return { ...(minimum !== undefined && { minimum }), ...(isLimit && { maximum }) };
}

function editorOf(type: unknown, { enum: values }: JsonSchema): string {
  if (values !== undefined) return 'select';
  if (type === 'boolean') return 'checkbox';
  return type === 'integer' || type === 'number' ? 'number' : 'textfield';
}
