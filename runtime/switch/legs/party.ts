/** The parties of calls, with their numbers, names and URIs. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Provider, SipUser } from '../../domain/index.ts';
import type { Verdict } from '../../stir/index.ts';
import type { PartyInfo } from '../../runs/index.ts';
import { bracketUri } from '../../signalling/index.ts';

/** The party of a leg. */
export type Party =
  | { readonly kind: 'sipuser'; readonly domain: DomainName; readonly sipUser: SipUser }
  /** A scenario. `number` is the one that it calls from, or was called at. */
  | { readonly kind: 'ivr'; readonly domain: DomainName; readonly number: string; readonly name: string | undefined }
  /** A party behind a provider. */
  | {
      readonly kind: 'provider';
      readonly domain: DomainName;
      readonly provider: Provider;
      /** Name of the gateway that was called, of a provider with several. */
      readonly gateway?: string;
      /** What the signature of its call is worth, where that was checked. */
      readonly verdict?: Verdict;
      readonly number: string;
      readonly name: string | undefined;
      /** Of a call from outside (specification, "Dialog (active call)"). */
      readonly esg: EsgCall | undefined;
    }
  /** A conference. `number` is the one dialled to enter it. */
  | { readonly kind: 'conference'; readonly domain: DomainName; readonly number: string }
  /** A dialled number whose party is not known. */
  | { readonly kind: 'unknown'; readonly domain: DomainName; readonly number: string };

/** The gateway role's ids of a call from outside. */
export interface EsgCall {
  readonly esgdlg: string;
  /** Call-ID between the provider and this platform. */
  readonly esgcallid: string;
}

/** The number under which others see a party. */
export function numberOf(party: Party): string {
  return party.kind === 'sipuser' ? party.sipUser.phonenumber : party.number;
}

/** The name shown beside the number. */
export function nameOf(party: Party): string | undefined {
  switch (party.kind) {
    case 'sipuser':
      return party.sipUser.name;
    case 'ivr':
    case 'provider':
      return party.name;
    case 'conference':
    case 'unknown':
      return undefined;
    default:
      return party satisfies never;
  }
}

export function uriOf(party: Party): string {
  return bracketUri(numberOf(party), party.domain);
}

/** All URIs of a party: a sipuser has two, by login and by phone number (specification, "Dialog (active call)"). */
export function urisOf(party: Party): string[] {
  if (party.kind !== 'sipuser') return [uriOf(party)];
  const { login, phonenumber } = party.sipUser;
  return [bracketUri(login, party.domain), bracketUri(phonenumber, party.domain)];
}

/** Id of the user who owns the account. */
export function userIdOf(party: Party): string | undefined {
  return party.kind === 'sipuser' ? party.sipUser.userId : undefined;
}

interface Shown {
  readonly number: string;
  readonly name: string | undefined;
}

/** A party as a scenario sees it. @param shown where that is not its own number and name */
export function partyInfo(
  party: Party,
  { number, name }: Shown = { number: numberOf(party), name: nameOf(party) },
): PartyInfo {
  return {
    number,
    login: party.kind === 'sipuser' ? party.sipUser.login : undefined,
    name,
    ...(party.kind === 'provider' && party.verdict !== undefined && { verstat: party.verdict.verstat }),
    domain: party.domain,
    uri: bracketUri(number, party.domain),
  };
}
