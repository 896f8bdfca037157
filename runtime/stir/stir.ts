/** Signs calls, and verifies signed ones (RFC 8224). */
import type { X509Certificate } from 'node:crypto';
import type { Certificates } from './certificates.ts';
import { UnreachableError } from './certificates.ts';
import { CertificateError, trustedSigner } from './chain.ts';
import {
  type Attestation,
  checkedClaims,
  checkedDiversion,
  IdentityError,
  type Numbers,
  readIdentity,
  signedDiversion,
  signedIdentity,
  type SignedNumbers,
  type SigningKey,
  type UncheckedIdentity,
} from './passport.ts';

/** The result of a verification, by the values of `verstat` (3GPP TS 24.229 section 7.2A.20). */
export interface Verdict {
  readonly verstat: 'TN-Validation-Passed' | 'TN-Validation-Failed' | 'No-TN-Validation';
  /** Of a call that passed. */
  readonly attestation?: Attestation;
  /** Why it did not pass. */
  readonly reason?: string;
  /** Of a call that passed: what says so again where the call goes on. */
  readonly signed?: SignedCall;
}

/** A call with good signatures. */
export interface SignedCall extends Numbers {
  /** The values of the header Identity that were used. */
  readonly values: readonly string[];
}

/** Most forwardings of a call that are followed. */
const MAX_DIVERSIONS = 5;

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
   * The headers Identity of a verified call that goes on to another number: those that it came with, and one of this node that says
   * who forwards it (RFC 8946 section 4).
   */
  async divert({ values, orig, dest: div }: SignedCall, dest: string): Promise<readonly string[]> {
    const { signer } = this.#options;
    if (signer === undefined || dest === div) return values;
    const iat = Math.floor(Date.now() / 1000);
    return [...values, await signedDiversion(signer.key, signer.x5u, { orig, dest, div, iat })];
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
      const identities = values.flatMap((value) => {
        const read = readIdentity(value);
        return read === undefined ? [] : [{ ...read, value: value.trim() }];
      });
      const identity = identities.find(({ kind }) => kind === 'shaken');
      if (identity === undefined) return { verstat: 'No-TN-Validation', reason: 'the call is not signed' };
      const now = Date.now();
      const keyOf = async ({ x5u }: UncheckedIdentity) =>
        trustedSigner(await verifier.certificates.chain(x5u), verifier.roots, now).publicKey;
      const signed = await checkedClaims(identity.token, await keyOf(identity));
      if (signed.orig !== numbers?.orig) throw new IdentityError("the caller's number is not the signed one");
      const diverted = identities.filter(({ kind }) => kind === 'div').slice(0, MAX_DIVERSIONS);
      const diversions = signed.dests.includes(numbers.dest)
        ? []
        : await Promise.all(diverted.map(async (each) => checkedDiversion(each.token, await keyOf(each))));
      followDiversions(signed, diversions, { dest: numbers.dest, at: now / 1000 });
      const used = diversions.length === 0 ? [identity] : [identity, ...diverted];
      const call = { ...numbers, values: used.map(({ value }) => value) };
      return { verstat: 'TN-Validation-Passed', attestation: signed.attest, signed: call };
    } catch (error) {
      const { message: reason } = error as Error;
      if (error instanceof UnreachableError) return { verstat: 'No-TN-Validation', reason };
      if (error instanceof IdentityError || error instanceof CertificateError)
        return { verstat: 'TN-Validation-Failed', reason };
      return { verstat: 'No-TN-Validation', reason };
    }
  }
}

/**
 * Goes back from the called number to the one that the caller's operator signed, diversion by diversion (RFC 8946 section 5).
 * Each PASSporT must have been fresh when the next one was made.
 * @param called `at`: seconds since the epoch
 * @throws IdentityError
 */
function followDiversions(
  signed: SignedNumbers,
  diversions: readonly (SignedNumbers & { readonly div: string })[],
  called: { readonly dest: string; readonly at: number },
): void {
  let { dest, at } = called;
  const fresh = ({ iat }: SignedNumbers): void => {
    if (Math.abs(at - iat) > FRESH_SECONDS) throw new IdentityError('the PASSporT is not fresh');
  };
  const left = new Set(diversions);
  while (!signed.dests.includes(dest)) {
    const to = dest;
    const next = [...left].find(({ dests }) => dests.includes(to));
    if (next === undefined) throw new IdentityError('the called number is not the signed one');
    left.delete(next);
    fresh(next);
    if (next.orig !== signed.orig) throw new IdentityError('a diversion is of another caller');
    ({ div: dest, iat: at } = next);
  }
  fresh(signed);
}
