/** Signatures of calls (STIR/SHAKEN), where the settings ask for them. */
import { readFile } from 'node:fs/promises';
import { AddressGuard } from '../../components/index.ts';
import { type Config, ConfigError } from '../config/index.ts';
import type { Stir } from '../stir/index.ts';

/**
 * Loads the room only when it is of use.
 * @throws ConfigError for a file that cannot be read or used
 */
export async function openStir({ key, certificateUrl, roots, networks }: Config['stir']): Promise<Stir | undefined> {
  if (key === undefined && roots === undefined) return undefined;
  const stir = await import('../stir/index.ts');
  const guard = new AddressGuard(networks);
  const use = async <T>(
    setting: string,
    file: string,
    read: (pem: string) => T,
    expected: string,
  ): Promise<Awaited<T>> => {
    try {
      return await read(await readFile(file, 'utf8'));
    } catch (error) {
      throw new ConfigError(setting, `${file}: ${(error as Error).message}`, expected);
    }
  };
  const signer =
    key === undefined
      ? undefined
      : {
          key: await use(
            'RINGMASTER_STIR_KEY',
            key,
            stir.signingKey,
            'a PEM file with a private key of the curve P-256 (PKCS #8)',
          ),
          x5u: certificateUrl,
        };
  const verifier =
    roots === undefined
      ? undefined
      : {
          roots: await use('RINGMASTER_STIR_ROOTS', roots, stir.readCertificates, 'a PEM file with certificates'),
          certificates: new stir.Certificates((address) => guard.mayReach(address)),
        };
  return new stir.Stir({ signer, verifier });
}
