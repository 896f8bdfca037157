import { spawnSync } from 'node:child_process';

/** A fresh self-signed certificate; undefined where openssl is not installed, unless RINGMASTER_REQUIRE_PEERS=1. */
export function makeCertificate(): { readonly key: string; readonly cert: string } | undefined {
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -days 1 -keyout - -out -';
  const { status, stdout, error } = spawnSync('openssl', request.split(' '), { encoding: 'utf8' });
  if (status === 0) return { key: stdout, cert: stdout };
  if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1')
    throw new Error('openssl makes no certificate', { cause: error });
  return undefined;
}
