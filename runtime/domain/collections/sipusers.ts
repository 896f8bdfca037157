/** The collection of sipusers (SIP accounts). */
import { createHash, randomBytes } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition } from './definition.ts';
import { Id, Label, Login, Opts, Password, PhoneNumber, Security, composites } from './fields.ts';
import { checkSrtpKeys } from './srtp-fields.ts';

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  login: Login,
  phonenumber: PhoneNumber,
  name: Label,
  /** Owner: calls on behalf of this user use the account. */
  user_id: Type.Optional(Type.Union([Id, Type.Null()])),
  /** SIP secret, stored as digests only. Without it no phone can register. */
  pwd: Type.Optional(Password),
  ...composites,
  opts: Opts,
  security: Security,
});

export type SipUserRow = Static<typeof schema> & { readonly ha1_md5: string; readonly ha1_sha256: string };

/** HA1 of RFC 7616 section 3.4.2: `H(unq(username) ":" unq(realm) ":" passwd)`. */
export function digestSecrets(login: string, realm: string, pwd: string): { ha1_md5: string; ha1_sha256: string } {
  const hash = (algorithm: string): string => createHash(algorithm).update(`${login}:${realm}:${pwd}`).digest('hex');
  return { ha1_md5: hash('md5'), ha1_sha256: hash('sha256') };
}

export const sipusers: CollectionDefinition = {
  entity: 'sipuser',
  table: 'sipusers',
  schema,
  defaults: { phonenumber: '', name: '', user_id: null, opts: {}, ext: {}, lic: {}, security: {} },
  composites: ['opts', 'ext', 'lic', 'security'],
  json: [],
  writeOnly: ['pwd'],
  hidden: ['ha1_md5', 'ha1_sha256'],
  constraints: {
    sipusers_login_key: 'login',
    sipusers_phonenumber_key: 'phonenumber',
    sipusers_domain_id_fkey: 'domain_id',
    sipusers_user_id_fkey: 'user_id',
  },
  async derive(entity, before, db) {
    checkSrtpKeys('sipuser', 'security', entity['security']);
    const { login, domain_id: domainId, pwd } = entity as { login: string; domain_id: string; pwd?: string };
    if (pwd === undefined && before !== undefined) {
      const same = before['login'] === login && before['domain_id'] === domainId;
      if (!same)
        throw new InvalidFieldError(
          'sipuser',
          'pwd',
          'is required when login or domain change: it is kept hashed with them',
        );
      return {};
    }
    const domain = await db.selectFrom('domains').select('name').where('id', '=', domainId).executeTakeFirst();
    if (domain === undefined) throw new InvalidFieldError('sipuser', 'domain_id', 'names an unknown entity', domainId);
    // Without a secret no phone can register: nobody knows this random one.
    return digestSecrets(login, domain.name, pwd ?? randomBytes(32).toString('hex'));
  },
};
