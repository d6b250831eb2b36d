import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { MissingSecretError, SecretVault } from '../api/references.ts';
import { hostConfig } from '../config/host-config.ts';
import type { Input } from '../config/input-schema.ts';
import { UsageError } from '../core/errors.ts';
import { sessionPoolProblems } from '../sessions/session-pools.ts';

/** Where `${env:NAME}` and `${file:PATH}` are looked up. Files are relative to the input document's folder. */
export function openVault(env: Readonly<Record<string, string | undefined>>, baseDir: string): SecretVault {
  return new SecretVault({ env: (name) => env[name], file: (path) => readSecret(resolve(baseDir, path)) });
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    // undefined is what the vault reports as missing, with the reference's name.
    return undefined;
  }
}

/**
 * Checks before anything starts that every reference of the document leads somewhere.
 * @throws UsageError with every problem
 */
export function requireSecrets(input: Input, vault: SecretVault): void {
  const reveal = (text: string): string => vault.reveal(text);
  const headers = Object.entries(input.headers).flatMap(([name, value]) =>
    problemsOf(`headers.${name}`, () => reveal(value)),
  );
  const pools = Object.keys(input.hosts).flatMap((host) => {
    const { sessionPool } = hostConfig(input.hosts, host);
    return sessionPoolProblems(sessionPool, reveal).map((problem) => `hosts.${host}.sessionPool: ${problem}`);
  });
  const problems = [...headers, ...pools];
  if (problems.length > 0) throw new UsageError(problems);
}

function problemsOf(path: string, check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof MissingSecretError) return [`${path}: ${error.message}`];
    throw error;
  }
}
