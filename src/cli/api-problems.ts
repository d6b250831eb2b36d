import type { Input } from '../config/input-schema.ts';
import type { Setting } from '../config/lay-over.ts';
import { problemsAt, type SourceDocument } from '../config/parse-settings.ts';

export type DocumentFacts = {
  source: SourceDocument;
  /** What the command line has laid over it. */
  settings: readonly Setting[];
  /** Absolute folder that its files start from. */
  baseDir: string;
  env: Readonly<Record<string, string | undefined>>;
};

/**
 * Looks through the declared api of a document, if it has one: placeholders, circles, selectors, references, files.
 * @throws UsageError with every problem, each with file, line and column
 */
export async function refuseApiProblems({ api }: Input, facts: DocumentFacts): Promise<void> {
  if (api === undefined) return;
  const [{ systemFiles }, { inspectApi }, { moduleImporter }] = await Promise.all([
    import('../api/api-context.ts'),
    import('../api/compile-api.ts'),
    import('../api/load-module.ts'),
  ]);
  const { pathOf, ...files } = systemFiles(facts.baseDir, facts.env);
  const problems = await inspectApi(api, { ...files, importModule: moduleImporter(pathOf) });
  if (problems.length === 0) return;
  const placed = problems.map((problem) => ({ ...problem, path: ['api', ...problem.path] }));
  throw problemsAt(placed, facts.source, facts.settings);
}
