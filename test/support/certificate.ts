import { spawnSync } from 'node:child_process';

const REQUEST =
  'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -days 2 -keyout - -out - -addext subjectAltName=';

/** A self-signed certificate of this machine, and its key, PEM. */
export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}

/**
 * A fresh self-signed certificate; undefined where openssl is not installed, unless RINGMASTER_REQUIRE_PEERS=1.
 * @param names as in subjectAltName; default: this machine
 */
export function makeCertificate(names = 'IP:127.0.0.1,DNS:localhost'): TestCertificate | undefined {
  const { status, stdout, error } = spawnSync('openssl', `${REQUEST}${names}`.split(' '), { encoding: 'utf8' });
  if (status === 0) {
    const begin = stdout.indexOf('-----BEGIN CERTIFICATE-----');
    return { key: stdout.slice(0, begin), cert: stdout.slice(begin) };
  }
  if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1')
    throw new Error('openssl makes no certificate', { cause: error });
  return undefined;
}

/** A certificate that expired in 2020. */
export const EXPIRED_CERTIFICATE: TestCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBGzCBwgIBATAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9leHBpcmVkLmV4YW1w
bGUwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMjAxMDAwMDAwWjAaMRgwFgYDVQQDDA9l
eHBpcmVkLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASyQUemG9hf
CFkBpJqjGedAKfM+G8+h8ozHH7BJoSNzfhdKa2OqXbKWLs+IxTgQ21nw+aWAWKPy
ciiiWX69Y8QjMAoGCCqGSM49BAMCA0gAMEUCIAdCTIuES49u2uevICo9ugAAX26T
mdC9Sk6scixNzq4eAiEA6/GwkFQfFyh8di8lfKc8QbnMD++rFc8Njawaju0paPE=
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghQNyNbwE2xaTz5Yq
y+IWLTIkCMm0DHlyve83wZOX5E+hRANCAASyQUemG9hfCFkBpJqjGedAKfM+G8+h
8ozHH7BJoSNzfhdKa2OqXbKWLs+IxTgQ21nw+aWAWKPyciiiWX69Y8Qj
-----END PRIVATE KEY-----
`,
};
