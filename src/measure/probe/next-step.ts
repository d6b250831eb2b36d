import type { UrlProbe } from './probe-report.ts';

type Failure = NonNullable<UrlProbe['error']>;

const LOOK_AT_MACHINE = '`millrace probe` without a URL checks this machine and its network.';
const RAISE_TIMEOUT = `Raise --timeout; if it stays, ${LOOK_AT_MACHINE}`;

const STEPS: Partial<Record<Failure['code'], string>> = {
  DNS_NOT_FOUND: `Check the spelling of the host; if it is right, ask the name server alone (\`getent hosts NAME\`).`,
  DNS_FAILED: `The name server did not answer: ${LOOK_AT_MACHINE}`,
  CONNECTION_REFUSED: 'Nothing listens there: check scheme and port, and whether the service is up.',
  CONNECTION_RESET: 'Something cuts connections (the server, a firewall, a proxy): try it from another network.',
  CONNECTION_FAILED: LOOK_AT_MACHINE,
  TIMEOUT_CONNECT: `No way there, or a firewall that says nothing: ${LOOK_AT_MACHINE}`,
  TIMEOUT_FIRST_BYTE: RAISE_TIMEOUT,
  TIMEOUT_IDLE: RAISE_TIMEOUT,
  TIMEOUT_TOTAL: RAISE_TIMEOUT,
  TLS_FAILED:
    'For a private authority set NODE_EXTRA_CA_CERTS to its certificate; else the server has to mend its own.',
  HTTP_PROTOCOL: 'Check scheme and port; where they are right, try --no-http2.',
};

/** @returns what to do about a URL that gave no answer; null where the message itself says it */
export function nextStep({ code }: Failure): string | null {
  return STEPS[code] ?? null;
}
