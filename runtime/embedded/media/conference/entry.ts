/** The argument of the `conference` application. */
export interface ConferenceEntry {
  readonly name: string;
  readonly profile: string;
  readonly pin: string;
  readonly flags: ReadonlySet<string>;
}

/**
 * Reads `<name>[@<profile>][+[<pin>]][+flags{a|b}]`, the forms that drachtio-fsmrf and dialplans use.
 *
 * @returns undefined without a name
 */
export function parseEntry(text: string): ConferenceEntry | undefined {
  const flagPart = /\+flags\{([^}]*)\}\s*$/.exec(text);
  const rest = flagPart === null ? text.trim() : text.slice(0, flagPart.index).trim();
  const plus = rest.indexOf('+');
  const place = plus < 0 ? rest : rest.slice(0, plus);
  const pin = plus < 0 ? '' : rest.slice(plus + 1).replace(/\+$/, '');
  const at = place.indexOf('@');
  const name = (at < 0 ? place : place.slice(0, at)).trim();
  if (name === '' || /\s/.test(name)) return undefined;
  const flags = (flagPart?.[1] ?? '').split('|').map((flag) => flag.trim());
  return {
    name,
    profile: at < 0 ? 'default' : place.slice(at + 1).trim() || 'default',
    pin,
    flags: new Set(flags.filter((flag) => flag !== '')),
  };
}
