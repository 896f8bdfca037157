/** The door of this room: what other rooms use of it. */
export { Certificates } from './certificates.ts';
export { CertificateError, readCertificates } from './chain.ts';
export { type Attestation, type Numbers, signedIdentity, signingKey } from './passport.ts';
export { Stir, type Verdict } from './stir.ts';
