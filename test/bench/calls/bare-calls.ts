/** The floor of `calls`: a phone calls another through two endpoints, on drachtio-srf and drachtio-fsmrf alone. */
import type Srf from 'drachtio-srf';
import type { Endpoint, MediaServer } from '../../conformance/support/fsmrf.ts';

/** @param contacts the contact of each number */
export function serveCalls(srf: Srf, media: MediaServer, contacts: Readonly<Record<string, string>>): void {
  srf.invite((req, res) => {
    const contact = contacts[req.calledNumber];
    if (contact === undefined) res.send(404);
    else void connect(srf, media, req, res, contact);
  });
}

async function connect(srf: Srf, media: MediaServer, req: Srf.SrfRequest, res: Srf.SrfResponse, contact: string) {
  const making = [media.createEndpoint({ remoteSdp: req.body }), media.createEndpoint()];
  const made = await Promise.allSettled(making);
  const endpoints = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  try {
    const [near, far] = endpoints as [Endpoint, Endpoint];
    if (endpoints.length < 2) throw new Error('an endpoint was refused');
    const { uas, uac } = await srf.createB2BUA(req, res, contact, {
      localSdpB: far.local.sdp,
      localSdpA: async (answer) => {
        await far.modify(answer);
        return near.local.sdp;
      },
    });
    uas.on('destroy', () => end(endpoints, uac));
    uac.on('destroy', () => end(endpoints, uas));
    await near.bridge(far).catch(() => end(endpoints, uas, uac));
  } catch {
    // createB2BUA has passed on a refusal of the called phone, and answered a CANCEL.
    end(endpoints);
    if (!res.finalResponseSent) res.send(503);
  }
}

function end(endpoints: readonly Endpoint[], ...dialogs: readonly Srf.Dialog[]): void {
  for (const dialog of dialogs) dialog.destroy({ headers: {} }, () => undefined);
  // It is gone when it cannot be destroyed.
  for (const endpoint of endpoints) endpoint.destroy().catch(() => undefined);
}
