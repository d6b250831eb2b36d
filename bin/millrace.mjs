#!/usr/bin/env node
// Plain JavaScript that every Node since 12 can read: it has to say its one sentence there.
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';

const OLDEST_NODE = 24;

// Node before 24.12 announces both at every start; they are what this program is built on.
const EXPECTED_WARNING = /^(SQLite|Type Stripping) is an experimental feature/;

/** The sources in a checkout; what they were built to in a package, where Node strips no types. */
function entryPoint() {
  const source = new URL('../src/main.ts', import.meta.url);
  const isPackage = source.pathname.includes('/node_modules/') || !existsSync(source);
  return isPackage ? new URL('../dist/main.js', import.meta.url) : source;
}

function dropExpectedWarnings() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (!EXPECTED_WARNING.test(String(warning))) emitWarning.call(process, warning, ...rest);
  };
}

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `millrace needs Node ${OLDEST_NODE} or newer, and this is ${process.version}: ` +
      'run it by "npm start" or "npx millrace" in its folder, which bring their own, or install a newer Node.\n',
  );
  process.exitCode = 2;
} else {
  dropExpectedWarnings();
  nodeModule.enableCompileCache?.();
  const { main } = await import(entryPoint().href);
  await main(process);
}
