/** Signs calls, and verifies signed ones (RFC 8224). */
import type { X509Certificate } from 'node:crypto';
import type { Certificates } from './certificates.ts';
import { UnreachableError } from './certificates.ts';
import { CertificateError, trustedSigner } from './chain.ts';
import {
  type Attestation,
  checkedClaims,
  IdentityError,
  type Numbers,
  readIdentity,
  signedIdentity,
  type SigningKey,
} from './passport.ts';

/** The result of a verification, by the values of `verstat` (3GPP TS 24.229 section 7.2A.20). */
export interface Verdict {
  readonly verstat: 'TN-Validation-Passed' | 'TN-Validation-Failed' | 'No-TN-Validation';
  /** Of a call that passed. */
  readonly attestation?: Attestation;
  /** Why it did not pass. */
  readonly reason?: string;
}

/** Seconds that a PASSporT is fresh, in both directions of the clock (RFC 8224 section 6.2 step 4). */
const FRESH_SECONDS = 60;

export interface StirOptions {
  /** Undefined: calls are not signed. */
  readonly signer: { readonly key: SigningKey; readonly x5u: string } | undefined;
  /** Undefined: calls are not verified. */
  readonly verifier: { readonly roots: readonly X509Certificate[]; readonly certificates: Certificates } | undefined;
}

export class Stir {
  readonly #options: StirOptions;

  constructor(options: StirOptions) {
    this.#options = options;
  }

  get signs(): boolean {
    return this.#options.signer !== undefined;
  }

  get verifies(): boolean {
    return this.#options.verifier !== undefined;
  }

  /** Headers that sign a call; none without a key. */
  async sign(numbers: Numbers, attest: Attestation): Promise<Readonly<Record<string, string>>> {
    const { signer } = this.#options;
    if (signer === undefined) return {};
    const now = new Date();
    const iat = Math.floor(now.getTime() / 1000);
    const identity = await signedIdentity(signer.key, signer.x5u, { ...numbers, attest, iat });
    return { Date: now.toUTCString(), Identity: identity };
  }

  /**
   * Verifies a call. Never rejects.
   * @param values of the header Identity
   * @param numbers of the request; undefined: one of them is no telephone number
   */
  async verify(values: readonly string[], numbers: Numbers | undefined): Promise<Verdict> {
    const { verifier } = this.#options;
    if (verifier === undefined) return { verstat: 'No-TN-Validation', reason: 'this node has no trusted roots' };
    try {
      const identity = values.map(readIdentity).find((each) => each !== undefined);
      if (identity === undefined) return { verstat: 'No-TN-Validation', reason: 'the call is not signed' };
      const now = Date.now();
      const signer = trustedSigner(await verifier.certificates.chain(identity.x5u), verifier.roots, now);
      const { attest, orig, dests, iat } = await checkedClaims(identity.token, signer.publicKey);
      if (Math.abs(now / 1000 - iat) > FRESH_SECONDS) throw new IdentityError('the PASSporT is not fresh');
      if (orig !== numbers?.orig) throw new IdentityError("the caller's number is not the signed one");
      if (!dests.includes(numbers.dest)) throw new IdentityError('the called number is not the signed one');
      return { verstat: 'TN-Validation-Passed', attestation: attest };
    } catch (error) {
      const { message: reason } = error as Error;
      if (error instanceof UnreachableError) return { verstat: 'No-TN-Validation', reason };
      if (error instanceof IdentityError || error instanceof CertificateError)
        return { verstat: 'TN-Validation-Failed', reason };
      return { verstat: 'No-TN-Validation', reason };
    }
  }
}
