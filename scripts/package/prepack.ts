import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { buildPackage } from './build.ts';
import { KEPT_MANIFEST, MANIFEST, restoreManifest } from './kept-manifest.ts';
import { type Manifest, packedManifest } from './packed-manifest.ts';

/**
 * Before `npm pack` and `npm publish`: compiles, and puts the packed manifest in the place of package.json, as npm has no
 * other way to pack a manifest that differs. postpack.ts puts everything back; so does the next prepack, should npm
 * have been killed in between.
 */
if (existsSync(KEPT_MANIFEST)) restoreManifest();
buildPackage();
const text = readFileSync(MANIFEST, 'utf8');
writeFileSync(KEPT_MANIFEST, text);
writeFileSync(MANIFEST, `${JSON.stringify(packedManifest(JSON.parse(text) as Manifest), null, 2)}\n`);
