/** A live call as another node needs it. */
import type { SharedCall } from '../../callstore/index.ts';
import { numberOf, urisOf } from '../legs/party.ts';
import type { CallDialog } from './dialog.ts';

/** @param dialog as it is now */
export function sharedCall(dialog: CallDialog): SharedCall {
  return {
    entry: dialog.entry(),
    facts: dialog.facts(),
    sides: dialog.legs.map(({ leg: { callid, party, sipPlace, sdpOrigin, endpoint }, side }) => ({
      callid,
      side,
      number: numberOf(party),
      uris: urisOf(party),
      domain: party.domain,
      sip: sipPlace,
      origin: sdpOrigin,
      media: endpoint?.place,
    })),
  };
}
