import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';

/** The events that a user is told, in their order. */
export interface EventFeed<Data> {
  readonly seen: readonly Data[];
  close(): void;
}

/** Where to subscribe, and as whom. */
interface Subscribed {
  readonly node: { readonly base: string };
  rest(): Promise<{ readonly token: string | undefined }> | { readonly token: string | undefined };
}

/** Subscribes by WebSocket. @param name of the events, `class` or `class.type` */
export async function followEvents<Data>(stage: Subscribed, name: string): Promise<EventFeed<Data>> {
  const { token } = await stage.rest();
  const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const seen: Data[] = [];
  const subscribed = Promise.withResolvers<void>();
  socket.on('message', (text: Buffer) => {
    const [method, body] = JSON.parse(text.toString()) as [string, { data: Data }];
    if (method === 'subscribe_result') subscribed.resolve();
    if (method === 'event') seen.push(body.data);
  });
  await once(socket, 'open');
  socket.send(JSON.stringify(['subscribe', { qid: '1', id: randomUUID(), events: [name], expires: 600 }]));
  await subscribed.promise;
  return { seen, close: () => socket.close() };
}
