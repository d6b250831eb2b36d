import { z } from 'zod';
import { didYouMean } from '../core/nearest-name.ts';

const name = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, {
    error: ({ input }) =>
      `"${String(input)}" cannot be a name: it starts with a letter and has letters, digits, _ and - only.`,
  })
  .describe('Letters, digits, _ and -');
const jsonPath = (description: string) => z.string().min(1).describe(`JSONPath (RFC 9535): ${description}`);
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const reference = 'may hold ${env:NAME} or ${file:PATH}';

/** An object that says what it is by `type`; an unknown one is refused with the nearest known name. */
function byType<const Options extends readonly [z.ZodObject, ...z.ZodObject[]]>(what: string, options: Options) {
  const known = options.map((option) => (option.shape.type as z.ZodLiteral<string>).value);
  return z.discriminatedUnion('type', options, { error: (issue) => unknownTypeMessage(what, known, issue.input) });
}

function unknownTypeMessage(what: string, known: readonly string[], input: unknown): string {
  if (typeof input !== 'object' || input === null) return `Expected an object: {type: ${known[0]}, ...}`;
  const type = (input as { type?: unknown }).type;
  if (typeof type !== 'string') return `The type of ${what} is missing: one of ${known.join(', ')}`;
  return `Unknown ${what} "${type}".${didYouMean(type, known)} Known: ${known.join(', ')}.`;
}

// ---- Paginators -----------------------------------------------------------------------------------------------

const stops = {
  hasMorePath: jsonPath('where the body says whether another page follows; false, null or absent stops').optional(),
  stopCondition: jsonPath('stops when it matches anything but false, null, 0 and ""').optional(),
  maxPages: z.number().int().min(1).optional().describe('Most pages of one listing; wins over every other stop'),
  onRepeatedPage: z
    .enum(['fail', 'stop', 'continue'])
    .default('fail')
    .describe(
      'What a repeated cursor or page means. fail: a loop; stop: the end (servers that repeat their last page); ' +
        'continue: nothing (scroll ids, which stay the same)',
    ),
};

const stopAfterEmptyPage = (byDefault: boolean) => ({
  stopAfterEmptyPage: z.boolean().default(byDefault).describe('Stop at a page without records'),
});
// The server names the next page: an empty one in between (all of it filtered out) does not end the listing.
const namedStops = { ...stops, ...stopAfterEmptyPage(false) };
// Pages are counted here: an empty one is the end.
const countedStops = { ...stops, ...stopAfterEmptyPage(true) };

const cursorTarget = {
  cursorParam: z.string().min(1).optional().describe('Query parameter the cursor is sent in'),
  cursorHeader: z.string().min(1).optional().describe('Request header the cursor is sent in'),
  cursorBodyPath: z.string().min(1).optional().describe('Dotted path in the JSON body the cursor is sent in'),
};

const headerLinkSchema = z
  .strictObject({
    type: z.literal('headerLink'),
    rel: z.string().min(1).default('next').describe('Relation of the next page'),
    ...namedStops,
  })
  .describe('The Link header (RFC 8288) names the next page');

const jsonLinkSchema = z
  .strictObject({
    type: z.literal('jsonLink'),
    nextUrlPath: jsonPath('the URL of the next page, absolute or relative').default('$.next'),
    ...namedStops,
  })
  .describe('The body names the URL of the next page');

const cursorSchema = z
  .strictObject({
    type: z.literal('cursor'),
    cursorPath: jsonPath('the cursor of the next page; absent, null or "" at the end').default('$.next_cursor'),
    ...cursorTarget,
    ...namedStops,
  })
  .describe('The body carries a cursor, sent back as a parameter, header or body field (default: parameter cursor)');

const headerCursorSchema = z
  .strictObject({
    type: z.literal('headerCursor'),
    responseHeader: z.string().min(1).describe('Response header with the cursor of the next page'),
    ...cursorTarget,
    ...namedStops,
  })
  .describe('A response header carries the cursor');

const offsetSchema = z
  .strictObject({
    type: z.literal('offset'),
    limit: z.number().int().min(1).describe('Records asked for per page'),
    offset: z.number().int().min(0).default(0).describe('First offset'),
    offsetParam: z.string().min(1).default('offset').describe('Query parameter of the offset'),
    limitParam: z.string().min(1).nullable().default('limit').describe('Query parameter of the limit; null = not sent'),
    offsetBodyPath: z.string().min(1).optional().describe('Dotted path in the JSON body, instead of offsetParam'),
    limitBodyPath: z.string().min(1).optional().describe('Dotted path in the JSON body, instead of limitParam'),
    totalPath: jsonPath('number of records over all pages').optional(),
    maximumOffset: z.number().int().min(0).optional().describe('Largest offset ever sent'),
    ...countedStops,
  })
  .describe('Offset and limit');

const pageNumberSchema = z
  .strictObject({
    type: z.literal('pageNumber'),
    basePage: z.number().int().min(0).default(1).describe('Number of the first page'),
    pageParam: z.string().min(1).default('page').describe('Query parameter of the page number'),
    pageBodyPath: z.string().min(1).optional().describe('Dotted path in the JSON body, instead of pageParam'),
    pageSize: z.number().int().min(1).optional().describe('Records asked for per page'),
    pageSizeParam: z.string().min(1).optional().describe('Query parameter of the page size; not sent when left out'),
    pageSizeBodyPath: z.string().min(1).optional().describe('Dotted path in the JSON body of the page size'),
    totalPath: jsonPath('number of records over all pages').optional(),
    totalPagesPath: jsonPath('number of pages').optional(),
    maximumPage: z.number().int().min(0).optional().describe('Largest page number ever sent'),
    ...countedStops,
  })
  .describe('Numbered pages');

const singlePageSchema = z.strictObject({ type: z.literal('singlePage') }).describe('One page, no more');

const autoSchema = z
  .strictObject({ type: z.literal('auto'), ...namedStops })
  .describe('Found out from the first page, and said in the log');

const graphqlRelaySchema = z
  .strictObject({
    type: z.literal('graphqlRelay'),
    connectionPath: jsonPath('the connection, an object with pageInfo and nodes or edges'),
    cursorVariable: z.string().min(1).default('after').describe('Variable the end cursor is sent in'),
    pageSizeVariable: z.string().min(1).optional().describe('Variable of the page size'),
    pageSize: z.number().int().min(1).optional().describe('Records asked for per page'),
    ...namedStops,
  })
  .describe('GraphQL connections: pageInfo.endCursor goes into a variable of the POST body');

const moduleReference = {
  module: z.string().min(1).describe('A .ts, .mjs or .js file, relative to the input document'),
  export: z.string().min(1).optional().describe('Name of the export'),
  options: z.record(z.string(), z.unknown()).default({}).describe('Handed to it'),
};

const codePaginatorSchema = z
  .strictObject({ type: z.literal('code'), ...moduleReference, ...namedStops })
  .describe('Your own function: export paginator(options) that returns {first, next}');

export const paginatorSchema = byType('paginator', [
  autoSchema,
  headerLinkSchema,
  jsonLinkSchema,
  cursorSchema,
  headerCursorSchema,
  offsetSchema,
  pageNumberSchema,
  singlePageSchema,
  graphqlRelaySchema,
  codePaginatorSchema,
]).describe('How one page leads to the next');

// ---- Auth -----------------------------------------------------------------------------------------------------

const tokenRequest = {
  tokenUrl: z.string().min(1).describe('Token endpoint: absolute, or relative to baseUrl'),
  clientId: z.string().min(1).describe(`Client id; ${reference}`),
  scopes: z.array(z.string().min(1)).default([]).describe('Scopes asked for'),
  params: z.record(z.string(), z.string()).default({}).describe(`Further form fields (audience, ...); ${reference}`),
  clientAuth: z
    .enum(['basic', 'body'])
    .default('basic')
    .describe('How the client is authenticated: HTTP Basic, or in the form (RFC 6749 2.3.1)'),
  renewBeforeSecs: z.number().min(0).max(86_400).default(60).describe('Renewed so long before it expires, s'),
};

const bearerSchema = z
  .strictObject({ type: z.literal('bearer'), token: z.string().min(1).describe(`The token; ${reference}`) })
  .describe('Authorization: Bearer');

const apiKeySchema = z
  .strictObject({
    type: z.literal('apiKey'),
    name: z.string().min(1).describe('Name of the header, parameter or cookie'),
    value: z.string().min(1).describe(`The key; ${reference}`),
    location: z.enum(['header', 'query', 'cookie']).default('header').describe('Where it is sent'),
  })
  .describe('A key in a header, a query parameter or a cookie');

const httpBasicSchema = z
  .strictObject({
    type: z.literal('httpBasic'),
    username: z.string().describe(`User name; ${reference}`),
    password: z.string().default('').describe(`Password; ${reference}`),
  })
  .describe('Authorization: Basic');

const clientCredentialsSchema = z
  .strictObject({
    type: z.literal('oauth2ClientCredentials'),
    ...tokenRequest,
    clientSecret: z.string().min(1).describe(`Client secret; ${reference}`),
  })
  .describe('OAuth 2.0 client credentials (RFC 6749 4.4)');

const refreshTokenSchema = z
  .strictObject({
    type: z.literal('oauth2RefreshToken'),
    ...tokenRequest,
    clientSecret: z.string().min(1).optional().describe(`Client secret; ${reference}`),
    refreshToken: z.string().min(1).describe(`Refresh token; ${reference}`),
  })
  .describe('OAuth 2.0 refresh token (RFC 6749 6)');

const customAuthSchema = z
  .strictObject({ type: z.literal('custom'), ...moduleReference })
  .describe('Your own function: export auth(options, tools) that returns {apply, onUnauthorized}');

export const authSchema = byType('auth', [
  bearerSchema,
  apiKeySchema,
  httpBasicSchema,
  clientCredentialsSchema,
  refreshTokenSchema,
  customAuthSchema,
]).describe('How requests are authenticated; sent to the origin of baseUrl only');

// ---- Endpoints and resources ----------------------------------------------------------------------------------

export const RESPONSE_ACTIONS = [
  'ignore',
  'fail',
  'retry',
  'rateLimited',
  'refreshTokenThenRetry',
  'resetPagination',
  'skip',
] as const;

const statusCode = z.number().int().min(100).max(599);

export const responseActionSchema = z
  .strictObject({
    statusCode: z
      .union([statusCode, z.array(statusCode).min(1)])
      .optional()
      .describe('Status, or any of these'),
    content: z.string().min(1).optional().describe('Text the body must contain'),
    condition: jsonPath('must match anything but false, null, 0 and ""').optional(),
    action: z
      .enum(RESPONSE_ACTIONS)
      .describe(
        'ignore: no records, no failure; skip: the same, counted as skipped; fail; retry: after a backoff; rateLimited: ' +
          'again when the host allows, no retry spent; refreshTokenThenRetry; resetPagination: from the first page',
      ),
    waitSecs: z.number().min(0).max(86_400).optional().describe('For rateLimited and retry: not before so long, s'),
    message: z.string().min(1).optional().describe('For fail and skip: the reason shown'),
  })
  .refine((rule) => rule.statusCode !== undefined || rule.content !== undefined || rule.condition !== undefined, {
    error: 'A response action needs statusCode, content or condition: it would apply to every response',
  })
  .describe('What a response means; the first that matches decides');

export const incrementalSchema = z
  .strictObject({
    cursorPath: z.string().min(1).describe('Field of a record (dotted, or JSONPath) that grows: updatedAt, id'),
    initialValue: z.union([z.string(), z.number()]).describe('Start of the first run'),
    endValue: z.union([z.string(), z.number()]).optional().describe('End, not included; the state is then not moved'),
  })
  .describe('Only what is new since the run before: {incremental.startValue} stands for where it ended');

export const parallelPagesSchema = z
  .enum(['auto', 'off'])
  .describe('auto: all pages at once as soon as their number is known; off: one after the other');

const params = z.record(z.string().min(1), z.union([scalar, z.array(scalar)]));

/** Keys as written; defaults are filled in after resourceDefaults are laid under a resource. */
const endpointFields = {
  path: z.string().describe('Path under baseUrl, or an absolute URL; may hold {resources.NAME.FIELD}'),
  method: z
    .string()
    .regex(/^[A-Za-z]+$/)
    .optional()
    .describe('GET, or POST when there is json'),
  params: params
    .optional()
    .describe('Query parameters; may hold {resources.NAME.FIELD}, {incremental.startValue}, ${env:NAME}'),
  headers: z
    .record(z.string().min(1), z.string())
    .optional()
    .describe('Headers of this endpoint; placeholders as in params'),
  json: z.unknown().optional().describe('JSON body; placeholders as in params, in any string'),
  dataSelector: jsonPath('the records; found by the usual names when left out').optional(),
  paginator: paginatorSchema.optional(),
  incremental: incrementalSchema.optional(),
  responseActions: z.array(responseActionSchema).optional().describe('Before the usual meaning of statuses'),
  parallelPages: parallelPagesSchema.optional(),
};

export const SCHEMA_CONTRACTS = ['evolve', 'freeze', 'discardRow', 'discardValue', 'quarantine'] as const;

const resourceFields = {
  primaryKey: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe('Field(s) that tell records apart: one that comes twice is kept once'),
  includeFromParent: z
    .array(z.string().min(1))
    .optional()
    .describe('Fields of the parent record, added as _PARENT_FIELD'),
  schema: z
    .union([z.string().min(1), z.record(z.string(), z.unknown())])
    .optional()
    .describe('JSON Schema of a record: a file relative to the input document, or written here'),
  schemaContract: z
    .enum(SCHEMA_CONTRACTS)
    .optional()
    .describe(
      'What a record that does not fit means. quarantine (default): dataset invalid; evolve: kept; freeze: the request ' +
        'fails; discardRow: dropped; discardValue: the value is dropped',
    ),
  session: z
    .enum(['sticky', 'any'])
    .optional()
    .describe(
      "sticky: a listing's next page is sent with the session (cookies, credential, proxy) that got the page before; " +
        "any: by whichever is free. As the host's sessionPool.sticky when left out",
    ),
  dataset: z.string().min(1).optional().describe("Where its records go; the resource's name when left out"),
};

export const resourceSchema = z.strictObject({
  name,
  ...resourceFields,
  endpoint: z
    .strictObject(endpointFields, {
      error: ({ code, input }) =>
        code === 'invalid_type' && typeof input === 'string'
          ? `"${input}" is a path, not an endpoint: write endpoint: {path: "${input}"}.`
          : undefined,
    })
    .describe('Where its pages are'),
});

export const resourceDefaultsSchema = z
  .strictObject({
    ...resourceFields,
    endpoint: z
      .strictObject({ ...endpointFields, path: endpointFields.path.optional() })
      .optional()
      .describe('Where its pages are'),
  })
  .describe('What resources have in common; laid under each, key by key');

export const apiSchema = z
  .strictObject({
    baseUrl: z.string().min(1).describe(`Start of every path: https://api.example.com/v1; ${reference}`),
    headers: z
      .record(z.string().min(1), z.string())
      .default({})
      .describe(`Sent to the origin of baseUrl; ${reference}`),
    auth: authSchema.optional(),
    paginator: paginatorSchema.optional(),
    resourceDefaults: resourceDefaultsSchema.optional(),
    resources: z.array(resourceSchema).min(1).describe('What to fetch'),
  })
  .describe('A declarative REST API: see docs/api.md');

/** The `api` key, parsed. */
export type ApiConfig = z.output<typeof apiSchema>;
/** The `api` key as written. */
export type ApiDocument = z.input<typeof apiSchema>;
export type ResourceConfig = z.output<typeof resourceSchema>;
export type PaginatorConfig = z.output<typeof paginatorSchema>;
export type PaginatorType = PaginatorConfig['type'];
export type AuthConfig = z.output<typeof authSchema>;
export type AuthType = AuthConfig['type'];
export type ResponseActionRule = z.output<typeof responseActionSchema>;
export type ResponseAction = ResponseActionRule['action'];
export type IncrementalConfig = z.output<typeof incrementalSchema>;
export type SchemaContract = (typeof SCHEMA_CONTRACTS)[number];
