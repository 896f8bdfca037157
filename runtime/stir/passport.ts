/** PASSporTs of SHAKEN (RFC 8225, RFC 8588) and of diversions (RFC 8946): who calls whom, signed, in Identity (RFC 8224). */
import { randomUUID } from 'node:crypto';
import { compactVerify, CompactSign, type CryptoKey, decodeProtectedHeader, importPKCS8, type KeyObject } from 'jose';

/** What the signer knows of the caller: A, it may use the number; B, it is a customer; C, the call came from elsewhere. */
export type Attestation = 'A' | 'B' | 'C';

/** Numbers as digits with the country code. */
export interface Numbers {
  readonly orig: string;
  readonly dest: string;
}

export interface Claims extends Numbers {
  readonly attest: Attestation;
  /** Seconds since the epoch. */
  readonly iat: number;
}

/** A header Identity, whose signature is not checked yet. */
export interface UncheckedIdentity {
  /** `div`: a call was forwarded. */
  readonly kind: 'shaken' | 'div';
  readonly token: string;
  /** Where the certificate is. */
  readonly x5u: string;
}

/** A header that no verifier can use; the message is the reason. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
}

export type SigningKey = CryptoKey | KeyObject | Uint8Array;

/** @param pem private key of the curve P-256, PKCS #8 @throws when it is none */
export function signingKey(pem: string): Promise<SigningKey> {
  return importPKCS8(pem, 'ES256');
}

/** The value of the header Identity. @param x5u URL of the certificate */
export async function signedIdentity(
  key: SigningKey,
  x5u: string,
  { orig, dest, attest, iat }: Claims,
): Promise<string> {
  // Keys in lexicographic order (RFC 8225 section 9).
  const payload = { attest, dest: { tn: [dest] }, iat, orig: { tn: orig }, origid: randomUUID() };
  const token = await new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ES256', ppt: 'shaken', typ: 'passport', x5u })
    .sign(key);
  return `${token};info=<${x5u}>;alg=ES256;ppt=shaken`;
}

/**
 * The value of the header Identity that says who forwarded a call (RFC 8946).
 * @param x5u URL of the certificate
 * @param numbers.div the called number, from which the call goes on to `dest`
 */
export async function signedDiversion(
  key: SigningKey,
  x5u: string,
  { orig, dest, div, iat }: Numbers & { readonly div: string; readonly iat: number },
): Promise<string> {
  const payload = { dest: { tn: [dest] }, div: { tn: div }, iat, orig: { tn: orig } };
  const token = await new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ES256', ppt: 'div', typ: 'passport', x5u })
    .sign(key);
  return `${token};info=<${x5u}>;alg=ES256;ppt=div`;
}

/**
 * Reads one value of the header Identity.
 * @returns undefined for a PASSporT of another kind
 * @throws IdentityError
 */
export function readIdentity(value: string): UncheckedIdentity | undefined {
  const [, token, parameters] = /^\s*([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)\s*(;.*)?$/.exec(value) ?? [];
  if (token === undefined || parameters === undefined) throw new IdentityError('the header Identity has another form');
  const ppt = /;\s*ppt\s*=\s*"?([\w-]+)"?/i.exec(parameters)?.[1];
  let header: ReturnType<typeof decodeProtectedHeader> & { readonly ppt?: unknown };
  try {
    header = decodeProtectedHeader(token);
  } catch {
    throw new IdentityError('the PASSporT cannot be decoded');
  }
  const kind = header.ppt;
  if (kind !== 'shaken' && kind !== 'div') return undefined;
  if (ppt !== undefined && ppt.toLowerCase() !== kind) return undefined;
  if (header.alg !== 'ES256' || header.typ !== 'passport')
    throw new IdentityError('the PASSporT is not signed by ES256');
  const info = /;\s*info\s*=\s*<([^>]*)>/i.exec(parameters)?.[1];
  if (typeof header.x5u !== 'string' || header.x5u !== info)
    throw new IdentityError('info and x5u do not name the same certificate');
  return { kind, token, x5u: header.x5u };
}

/** Whom a PASSporT names. */
export interface SignedNumbers {
  readonly orig: string;
  readonly dests: readonly string[];
  /** Seconds since the epoch. */
  readonly iat: number;
}

/** The claims of a PASSporT of SHAKEN with this signature. @throws IdentityError */
export async function checkedClaims(
  token: string,
  key: KeyObject,
): Promise<SignedNumbers & { readonly attest: Attestation }> {
  const claims = await checked(token, key);
  const { attest } = claims.others;
  if (!isAttestation(attest)) throw new IdentityError('the PASSporT lacks attest, orig, dest or iat');
  return { ...claims, attest };
}

/** The claims of a diversion with this signature. `div` was called, and forwarded the call. @throws IdentityError */
export async function checkedDiversion(
  token: string,
  key: KeyObject,
): Promise<SignedNumbers & { readonly div: string }> {
  const claims = await checked(token, key);
  const div = field(claims.others['div'], 'tn');
  if (typeof div !== 'string') throw new IdentityError('the PASSporT of a diversion lacks div');
  return { ...claims, div };
}

async function checked(token: string, key: KeyObject) {
  let payload: Uint8Array;
  try {
    ({ payload } = await compactVerify(token, key, { algorithms: ['ES256'] }));
  } catch {
    throw new IdentityError('the signature is wrong');
  }
  const { orig, dest, iat, ...others } = parsed(payload);
  const from = field(orig, 'tn');
  const to = field(dest, 'tn');
  const dests = (Array.isArray(to) ? to : [to]).filter((each) => typeof each === 'string');
  if (typeof from !== 'string' || dests.length === 0 || typeof iat !== 'number')
    throw new IdentityError('the PASSporT lacks attest, orig, dest or iat');
  return { orig: from, dests, iat, others };
}

function parsed(payload: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    if (typeof claims === 'object' && claims !== null) return claims as Readonly<Record<string, unknown>>;
  } catch {
    // Reported below.
  }
  throw new IdentityError('the PASSporT has no claims');
}

function field(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null
    ? (object as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function isAttestation(value: unknown): value is Attestation {
  return value === 'A' || value === 'B' || value === 'C';
}
