/** A package.json, as far as packing cares. */
export type Manifest = {
  name: string;
  dependencies: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  [key: string]: unknown;
};

// What only a checkout needs. Scripts go too: they run sources that are not in the package.
const OF_THE_CHECKOUT = ['private', 'scripts', 'devDependencies', 'overrides'];
// A checkout brings its own Node; who installs the package has one.
const NODE_BINARY = /^node-(linux|darwin|win)-/;
// Nothing imports it: the scoped packages are what runs, and the umbrella would add 200 packages to the user's project.
const UMBRELLA = 'crawlee';
const SCOPED_CRAWLEE = /^@crawlee\//;
// Loaded on Apify's platform only, where an Actor's own project has it.
const SDK = 'apify';

/**
 * The manifest that is packed: compiled entry points, no Node binaries, nothing that only a checkout needs. Crawlee may
 * be of any patch release, so that a Crawlee project and this package share one copy.
 */
export function packedManifest(manifest: Manifest): Manifest {
  const { dependencies, optionalDependencies = {}, ...rest } = manifest;
  const kept = Object.entries(rest).filter(([key]) => !OF_THE_CHECKOUT.includes(key));
  const optional = Object.entries(optionalDependencies).filter(([name]) => !NODE_BINARY.test(name));
  return {
    ...(Object.fromEntries(kept) as Omit<Manifest, 'dependencies'>),
    name: manifest.name,
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    types: './dist/index.d.ts',
    dependencies: packedDependencies(dependencies),
    peerDependencies: { [SDK]: `^${dependencies[SDK]}` },
    peerDependenciesMeta: { [SDK]: { optional: true } },
    ...(optional.length > 0 && { optionalDependencies: Object.fromEntries(optional) }),
  };
}

function packedDependencies(dependencies: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(dependencies)
      .filter(([name]) => name !== UMBRELLA && name !== SDK)
      .map(([name, range]) => [name, SCOPED_CRAWLEE.test(name) ? `~${range}` : range]),
  );
}
