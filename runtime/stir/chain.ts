/** Checks that a certificate may sign for telephone numbers, and leads to a trusted root (RFC 8226, RFC 5280 section 6). */
import { X509Certificate } from 'node:crypto';

/** Most certificates of a chain. */
const MAX_CHAIN = 5;
/** The extension TNAuthList, id-pe 26, as it stands in a certificate. */
const TN_AUTH_LIST = Buffer.from('06082b0601050507011a', 'hex');

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** A certificate that is not to be trusted; the message is the reason. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** The certificates of a PEM file, in its order. @throws CertificateError for none, or for one that cannot be read */
export function readCertificates(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(PEM) ?? [];
  if (blocks.length === 0) throw new CertificateError('there is no certificate in PEM form');
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new CertificateError('a certificate cannot be read');
  }
}

/**
 * The certificate of the signer: the first of the chain, when it leads to a root.
 * @param chain the signer's certificate, then those between it and a root
 * @param now milliseconds since the epoch
 * @throws CertificateError
 */
export function trustedSigner(
  chain: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  now: number,
): X509Certificate {
  const [signer, ...between] = chain;
  if (signer === undefined || chain.length > MAX_CHAIN)
    throw new CertificateError(`the chain has more than ${MAX_CHAIN}`);
  const { asymmetricKeyType, asymmetricKeyDetails } = signer.publicKey;
  if (asymmetricKeyType !== 'ec' || asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new CertificateError('the key of the certificate is not of the curve P-256');
  if (!signer.raw.includes(TN_AUTH_LIST)) throw new CertificateError('the certificate has no TNAuthList');
  let certificate = signer;
  for (let step = 0; step <= MAX_CHAIN; step++) {
    refuseOutdated(certificate, now);
    const root = roots.find((each) => isIssued(certificate, each));
    if (root !== undefined) {
      refuseOutdated(root, now);
      return signer;
    }
    const issuer = between.find((each) => each !== certificate && isIssued(certificate, each));
    if (issuer === undefined) break;
    certificate = issuer;
  }
  throw new CertificateError('the certificate does not lead to a trusted root');
}

function isIssued(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function refuseOutdated({ validFromDate, validToDate }: X509Certificate, now: number): void {
  if (now < validFromDate.getTime()) throw new CertificateError('a certificate is not valid yet');
  if (now > validToDate.getTime()) throw new CertificateError('a certificate has expired');
}
