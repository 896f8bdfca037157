/** The field `numbering` of providers: how they and their domain write numbers (ITU-T E.164). */
import { type Static, Type } from 'typebox';
import { InvalidFieldError } from '../errors.ts';

const Prefix = Type.String({ pattern: '^[0-9]{0,5}$', description: 'up to 5 digits' });
const Format = Type.Union([
  Type.Literal('e164'),
  Type.Literal('digits'),
  Type.Literal('international'),
  Type.Literal('national'),
]);

export const NumberingField = Type.Object(
  {
    /** Country code; required unless all is empty. */
    country: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,2}$', description: 'a country code: 1 to 3 digits' })),
    /** Dialled before a number of the country; default: 0. */
    national: Type.Optional(Prefix),
    /** Dialled before the country code of a number abroad; default: 00. */
    international: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}$', description: '1 to 5 digits' })),
    /** How the provider writes numbers; default: e164. */
    format: Type.Optional(Format),
    /** How the domain writes them: routes, mapping, phones and history; default: e164. */
    inside: Type.Optional(Format),
  },
  { additionalProperties: false },
);

/** @throws InvalidFieldError without the country, and for two prefixes that cannot be told apart */
export function checkNumbering(numbering: Static<typeof NumberingField>): void {
  if (Object.keys(numbering).length === 0) return;
  const { country, national = '0', international = '00' } = numbering;
  if (country === undefined) throw new InvalidFieldError('provider', 'numbering.country', 'is required');
  if (national !== '' && national.startsWith(international))
    throw new InvalidFieldError(
      'provider',
      'numbering.national',
      `must not begin with the international prefix ${international}`,
      national,
    );
}
