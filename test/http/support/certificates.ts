import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Certificate = { key: string; cert: string };
export type TestCertificates = { ca: string; good: Certificate; otherName: Certificate };

let made: TestCertificates | undefined;

/** A test authority, a certificate of it for localhost and 127.0.0.1, and one for another name. Made once a process. */
export function testCertificates(): TestCertificates {
  made ??= makeCertificates();
  return made;
}

function makeCertificates(): TestCertificates {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-ca-'));
  try {
    const run = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    run(...newKey('ca'), '-x509', '-days', '2', '-subj', '/CN=millrace test CA', '-out', 'ca.pem');
    const issue = (name: string, names: string): Certificate => {
      run(...newKey(name), '-subj', `/CN=${name}`, '-out', `${name}.csr`);
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
      run(
        ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'],
        ...['-days', '2', '-extfile', `${name}.ext`, '-out', `${name}.pem`],
      );
      return { key: read(`${name}.key`), cert: read(`${name}.pem`) };
    };
    const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
    return {
      ca: read('ca.pem'),
      good: issue('localhost', 'DNS:localhost,DNS:target.test,IP:127.0.0.1'),
      otherName: issue('elsewhere', 'DNS:elsewhere.test'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function newKey(name: string): string[] {
  return ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${name}.key`];
}
