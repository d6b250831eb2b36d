import type { ApiConfig, PaginatorConfig } from '../config/api-schema.ts';
import type { Problem } from '../config/describe-issues.ts';
import { messageOf } from '../core/errors.ts';
import type { ApiFiles } from './api-context.ts';
import type { AuthFactory } from './auth/create-auth.ts';
import { loadFunction, ModuleError } from './load-module.ts';
import type { CodePaginatorFactory } from './paginate/code.ts';
import type { CodePaginators } from './paginate/create-paginator.ts';
import { jsonSchemaCheck, type RecordCheck, RecordSchemaError, zodCheck } from './record-check.ts';
import { type Resource, resolveResources } from './resources.ts';

/** What an api brings along in files of its own, loaded. */
export type LoadedParts = {
  /** null = no custom auth. */
  authFactory: AuthFactory | null;
  code: CodePaginators;
  /** Checks by resource; none where it has no schema. */
  checks: ReadonlyMap<string, RecordCheck>;
};

/** @returns the parts, and what is wrong with them (paths within `api`) */
export async function loadParts(
  api: ApiConfig,
  files: ApiFiles,
): Promise<{ parts: LoadedParts; problems: readonly Problem[] }> {
  const problems: Problem[] = [];
  const report = (path: readonly (string | number)[], text: string): void => {
    problems.push({ path, text: `${text}.`, isAboutKey: false });
  };
  const factories = await loadPaginators(api, files, report);
  const authFactory = await loadAuth(api, files, report);
  const checks = loadChecks(api, files, report);
  const code: CodePaginators = (config) => factories.get(keyOf(config))!(config.options);
  return { parts: { authFactory, code, checks }, problems };
}

type Report = (path: readonly (string | number)[], text: string) => void;
type CodeConfig = Extract<PaginatorConfig, { type: 'code' }>;

function keyOf(config: CodeConfig): string {
  return `${config.module}#${config.export ?? ''}`;
}

async function loadPaginators(
  api: ApiConfig,
  files: ApiFiles,
  report: Report,
): Promise<Map<string, CodePaginatorFactory>> {
  const factories = new Map<string, CodePaginatorFactory>();
  for (const { path, paginator } of codePaginators(api)) {
    const factory = await load({ ...paginator, fallback: 'paginator' }, files, (text) =>
      report([...path, 'module'], text),
    );
    if (factory !== null) factories.set(keyOf(paginator), factory as CodePaginatorFactory);
  }
  return factories;
}

function* codePaginators(api: ApiConfig): Generator<{ path: (string | number)[]; paginator: CodeConfig }> {
  const places: { path: (string | number)[]; paginator: PaginatorConfig | undefined }[] = [
    { path: ['paginator'], paginator: api.paginator },
    { path: ['resourceDefaults', 'endpoint', 'paginator'], paginator: api.resourceDefaults?.endpoint?.paginator },
    ...api.resources.map(({ endpoint }, index) => ({
      path: ['resources', index, 'endpoint', 'paginator'],
      paginator: endpoint.paginator,
    })),
  ];
  for (const { path, paginator } of places) if (paginator?.type === 'code') yield { path, paginator };
}

async function loadAuth({ auth }: ApiConfig, files: ApiFiles, report: Report): Promise<AuthFactory | null> {
  if (auth?.type !== 'custom') return null;
  const factory = await load({ ...auth, fallback: 'auth' }, files, (text) => report(['auth', 'module'], text));
  return factory as AuthFactory | null;
}

async function load(
  reference: Parameters<typeof loadFunction>[0],
  files: ApiFiles,
  report: (text: string) => void,
): Promise<unknown> {
  try {
    return await loadFunction(reference, files.importModule);
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    report(error.message);
    return null;
  }
}

function loadChecks(api: ApiConfig, files: ApiFiles, report: Report): Map<string, RecordCheck> {
  const checks = new Map<string, RecordCheck>();
  for (const [index, resource] of resolveResources(api).entries()) {
    const isOwn = api.resources[index]?.schema !== undefined;
    const path = isOwn ? ['resources', index, 'schema'] : ['resourceDefaults', 'schema'];
    const check = checkOf(resource, files, (text) => report(path, text));
    if (check !== null) checks.set(resource.name, check);
  }
  return checks;
}

function checkOf(resource: Resource, files: ApiFiles, report: (text: string) => void): RecordCheck | null {
  const own = files.schemas?.[resource.name];
  if (own !== undefined) return zodCheck(own);
  if (resource.schema === null) return null;
  try {
    return jsonSchemaCheck(typeof resource.schema === 'string' ? readSchema(resource.schema, files) : resource.schema);
  } catch (error) {
    if (!(error instanceof RecordSchemaError)) throw error;
    report(error.message);
    return null;
  }
}

/** @throws RecordSchemaError */
function readSchema(path: string, files: ApiFiles): Record<string, unknown> {
  const text = files.readText(path);
  if (text === undefined) throw new RecordSchemaError(`${path} cannot be read`);
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new RecordSchemaError(`${path} is no JSON: ${messageOf(error)}`, { cause: error });
  }
}
