import { createHash } from 'node:crypto';
import type { SourceSpec } from '../../config/crawl-job.ts';
import { EnvironmentError, messageOf } from '../../core/errors.ts';
import { openFile } from './bytes.ts';

/**
 * What tells one list of sources from another: for a file its path and the SHA-256 of its content, all of it read
 * beforehand (1 to 2 s for 1 GB, a small part of what it takes to store its lines): size and time would take a copied or
 * checked out file for another, and samples an edit for none. Standard input is only known to be that.
 * @returns hex
 * @throws EnvironmentError when a file cannot be read; the signal's reason when aborted
 */
export async function sourcesFingerprint(specs: readonly SourceSpec[], signal?: AbortSignal): Promise<string> {
  const parts: unknown[] = [];
  for (const spec of specs) {
    const { name: _name, ...what } = { name: null, ...spec };
    parts.push(spec.kind === 'file' ? { ...what, content: await fileHash(spec.path, signal) } : what);
  }
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

async function fileHash(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of openFile(path)) {
      signal?.throwIfAborted();
      hash.update(chunk as Buffer);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw new EnvironmentError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  return hash.digest('hex');
}
