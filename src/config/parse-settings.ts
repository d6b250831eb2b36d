import type { z } from 'zod';
import { UsageError } from '../core/errors.ts';
import { deepFreeze } from './deep-freeze.ts';
import { describeIssues, type Problem } from './describe-issues.ts';
import { layOver, type Setting, settledPath } from './lay-over.ts';
import { pathText } from './path-text.ts';

/** A document as it was read. */
export type SourceDocument = {
  value: unknown;
  /** "crawl.yaml:3:5" for what stands at the path (the key itself, when asked); the file's name alone when unknown. */
  placeOf: (path: readonly PropertyKey[], options: { key: boolean }) => string;
};

/** @returns a document that says nothing: for a command line alone */
export function emptyDocument(): SourceDocument {
  return { value: {}, placeOf: () => 'input' };
}

export type ParsedSettings<Schema extends z.ZodType> = {
  /** Defaults filled in, frozen. */
  settings: z.output<Schema>;
  /** The document with the settings laid over it, as written. */
  document: z.input<Schema>;
};

/**
 * Parses a document and what the command line sets above it by one schema, so that ranges and messages are the same.
 * @throws UsageError with every problem: where (file, line and column, or option), what, what to do
 */
export function parseSettings<Schema extends z.ZodType>(
  schema: Schema,
  source: SourceDocument,
  settings: readonly Setting[],
): ParsedSettings<Schema> {
  const value = layOver(source.value, settings);
  const result = schema.safeParse(value, { reportInput: false });
  if (result.success) return { settings: deepFreeze(result.data), document: deepFreeze(value as z.input<Schema>) };
  const scaleAt = (path: readonly PropertyKey[]): number => settingAt(settings, path)?.scale ?? 1;
  const problems = describeIssues(result.error.issues, { schema, value, scaleAt });
  throw problemsAt(problems, source, settings);
}

/** @returns the error of problems found in a document: where (file, line and column, or option), what, what to do */
export function problemsAt(
  problems: readonly Problem[],
  source: SourceDocument,
  settings: readonly Setting[],
): UsageError {
  return new UsageError(problems.map((problem) => `${placeText(problem, source, settings)}: ${problem.text}`));
}

function placeText(problem: Problem, source: SourceDocument, settings: readonly Setting[]): string {
  const setting = settingAt(settings, problem.path);
  if (setting !== undefined) return setting.name;
  const place = source.placeOf(problem.path, { key: problem.isAboutKey });
  return problem.path.length === 0 ? place : `${place}: ${pathText(problem.path)}`;
}

// The last that was laid over the path is the one whose value stands there.
function settingAt(settings: readonly Setting[], path: readonly PropertyKey[]): Setting | undefined {
  return settings.findLast((setting) => {
    const settled = settledPath(setting.path);
    const isAbove = settled.every((key, index) => key === path[index]);
    const isHeader = setting.path[0] === 'headers' && path.length > 1;
    return isAbove && (!isHeader || Object.hasOwn(Object(setting.value), path[1]!));
  });
}
