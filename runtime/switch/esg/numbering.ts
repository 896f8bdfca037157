/** Numbers as a provider writes them, and as its domain does (ITU-T E.164). */
import type { NumberFormat, Numbering, Provider } from '../../domain/index.ts';

/** Fewest digits after a prefix, and of a number without one: shorter numbers, such as those of emergencies, stay. */
const FEWEST_DIGITS = 5;
const FEWEST_PLAIN_DIGITS = 8;
/** Most digits of a number, country code included (E.164 section 6.1). */
const MOST_DIGITS = 15;

/** A number of the provider as its domain writes it. */
export function numberInside({ numbering }: Pick<Provider, 'numbering'>, number: string): string {
  return numbering === undefined ? number : rewritten(numbering, number, numbering.format, numbering.inside);
}

/** A number of the domain as the provider writes it. */
export function numberOutside({ numbering }: Pick<Provider, 'numbering'>, number: string): string {
  return numbering === undefined ? number : rewritten(numbering, number, numbering.inside, numbering.format);
}

/** Digits with the country code of a number as the provider writes it; undefined for one that is no telephone number. */
export function telephoneDigits({ numbering }: Pick<Provider, 'numbering'>, number: string): string | undefined {
  if (numbering !== undefined) return internationalDigits(numbering, number, numbering.format);
  return /^\+(\d{5,15})$/.exec(number)?.[1];
}

function rewritten(numbering: Numbering, number: string, from: NumberFormat, to: NumberFormat): string {
  const digits = internationalDigits(numbering, number, from);
  return digits === undefined ? number : written(numbering, digits, to);
}

/** Country code and national number; undefined for a number that is none of the public network. */
function internationalDigits(
  { country, national, international }: Numbering,
  number: string,
  format: NumberFormat,
): string | undefined {
  const after = (prefix: string, fewest: number): string | undefined => {
    if (!number.startsWith(prefix)) return undefined;
    const rest = number.slice(prefix.length);
    return /^\d+$/.test(rest) && rest.length >= fewest && rest.length <= MOST_DIGITS ? rest : undefined;
  };
  const abroad = after('+', FEWEST_DIGITS) ?? after(international, FEWEST_DIGITS);
  if (abroad !== undefined) return abroad;
  const plain = /^[1-9]/.test(number) ? after('', FEWEST_PLAIN_DIGITS) : undefined;
  if (format === 'digits' && plain !== undefined) return plain;
  // Without a national prefix, as in Denmark, a plain number is a national one.
  const own = national === '' ? plain : after(national, FEWEST_DIGITS);
  return own === undefined || country.length + own.length > MOST_DIGITS ? undefined : country + own;
}

function written({ country, national, international }: Numbering, digits: string, format: NumberFormat): string {
  switch (format) {
    case 'e164':
      return `+${digits}`;
    case 'digits':
      return digits;
    case 'international':
      return international + digits;
    case 'national':
      return digits.startsWith(country) ? national + digits.slice(country.length) : international + digits;
    default:
      return format satisfies never;
  }
}
