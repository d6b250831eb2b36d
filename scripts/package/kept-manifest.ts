import { renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url));
/** Where package.json waits while the packed manifest is in its place. */
export const KEPT_MANIFEST = `${MANIFEST}.kept`;

export function restoreManifest(): void {
  renameSync(KEPT_MANIFEST, MANIFEST);
}
