/** Schemas of common entity fields: names, numbers, ids. */
import { Type } from 'typebox';
import type { Codecs } from '../directory.ts';

/** Part of a path, where `.` and `..` are special (RFC 3986 section 5.2.4). */
const PLAIN = {
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9_.-]{1,64}$',
  description: '1 to 64 letters, digits, `_`, `.`, `-`, and neither `.` nor `..`',
};

export const Id = Type.String(PLAIN);

/** Host name or address (RFC 3261 `host`), as in SIP URIs and digest realms. */
export const DomainText = Type.String({
  pattern: '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$',
  description: 'a host name',
});

/**
 * User part of a SIP URI without escapes (RFC 3261 `unreserved` and `user-unreserved`), without `:`, the separator of
 * digests.
 */
export const Login = Type.String({ pattern: "^[A-Za-z0-9_.!~'()&=+$,-]{1,64}$", description: 'a SIP user name' });

export const PhoneNumber = Type.String({
  pattern: '^(?:\\+?[0-9*#]{1,32})?$',
  description: 'digits, `*`, `#`, a leading `+`; empty: none',
});

/** `%` is any run of characters, `?` one character, `\\` escapes; see routing/pattern.ts. */
export const DialPatternText = Type.String({ minLength: 1, maxLength: 128 });

/** Display text without control characters. */
export const Label = Type.String({
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description: 'a text without control characters',
});

export const Code = Type.String(PLAIN);

export const Password = Type.String({ minLength: 1, maxLength: 1024 });

/** Free-form object, merged by first-level keys. */
export const Composite = Type.Record(Type.String(), Type.Unknown());

/** The field `security` of domains and sipusers. Unknown keys are kept. */
export const Security = Type.Object(
  {
    digest: Type.Optional(
      Type.Union([Type.Literal('always'), Type.Literal('unregistered')], {
        description:
          'which calls and texts of phones need digest credentials: all, or those that do not come from a registered ' +
          'contact. A sipuser without it follows the domain; a domain without it needs them of the unregistered',
      }),
    ),
    srtp: Type.Optional(
      Type.Union([Type.Literal('required'), Type.Literal('preferred'), Type.Literal('off')], {
        description:
          'encryption of the sound of phones: nothing else, offered, or none. A sipuser without it follows the domain; a domain ' +
          'without it answers as a phone offers, and offers plain sound',
      }),
    ),
    srtp_keys: Type.Optional(
      Type.Union([Type.Literal('sdes'), Type.Literal('dtls')], {
        description:
          'the keys that called phones are offered with encrypted sound: in the session description (SDES), which is the default, or by ' +
          'DTLS, which needs srtp required or preferred beside it. A sipuser without it follows the domain. Browsers always get DTLS',
      }),
    ),
  },
  { additionalProperties: Type.Unknown() },
);

/** The field `lic` of domains. Unknown keys are kept. */
export const Lic = Type.Object(
  {
    max_calls: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'calls at once, from which on new ones of the domain get 503; 0, and absent: no limit',
      }),
    ),
  },
  { additionalProperties: Type.Unknown() },
);

/** The codecs that media servers have, as session descriptions name them. */
const CodecText = Type.Union([Type.Literal('opus'), Type.Literal('G722'), Type.Literal('PCMU'), Type.Literal('PCMA')]);

/** The field `opts` of domains, sipusers and providers. Unknown keys are kept. */
export const Opts = Type.Unsafe<Readonly<Record<string, unknown>> & { readonly codecs?: Codecs }>(
  Type.Object(
    {
      codecs: Type.Optional(
        Type.Array(CodecText, {
          minItems: 1,
          maxItems: 4,
          uniqueItems: true,
          description:
            'codecs of calls, the best first; no others are offered or taken. A sipuser or provider without it follows the domain; ' +
            'a domain without it has opus, G722, PCMU, PCMA',
        }),
      ),
    },
    { additionalProperties: Type.Unknown() },
  ),
);

/** Composite fields of every domain-center collection. */
export const composites = { opts: Composite, ext: Composite, lic: Composite, security: Composite };
