import { rmSync } from 'node:fs';
import { DIST } from './build.ts';
import { restoreManifest } from './kept-manifest.ts';

/** After `npm pack` and `npm publish`: the checkout is as it was, and runs its sources. */
restoreManifest();
rmSync(DIST, { recursive: true, force: true });
