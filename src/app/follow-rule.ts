import { matchesHost } from '../config/host-config.ts';

/** Whether follow-up requests found on one host may go to another: its own, or one that `followHosts` names. */
export function followRule(followHosts: readonly string[]): (fromHost: string, toHost: string) => boolean {
  return (fromHost, toHost) =>
    fromHost === toHost || followHosts.some((pattern) => pattern === '*' || matchesHost(pattern, toHost));
}
