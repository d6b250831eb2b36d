// What a container's HEALTHCHECK runs: asks the process for /healthz on MILLRACE_METRICS_PORT. Exit 0 = it answers, 1 = it
// hangs. A port that nobody listens on says nothing: the command is no crawl, or one that has not begun or is at its end.
import { get } from 'node:http';

const PATIENCE_MS = 4_000;
const port = Number(process.env.MILLRACE_METRICS_PORT);

if (port > 0) {
  const request = get({ host: '127.0.0.1', port, path: '/healthz', timeout: PATIENCE_MS }, (response) => {
    process.exitCode = response.statusCode === 200 ? 0 : 1;
    response.resume();
  });
  request.on('timeout', () => request.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
  request.on('error', (error) => {
    if (error.code === 'ECONNREFUSED') return;
    process.stderr.write(`millrace does not answer: ${error.message}\n`);
    process.exitCode = 1;
  });
}
