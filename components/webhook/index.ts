import { Type } from 'typebox';
import { revealed } from '../http/body.ts';
import {
  type Clock,
  type ComponentContext,
  defineComponent,
  type HttpPort,
  type HttpRequest,
} from '../../runtime/runs/index.ts';
import type { Value } from '../../runtime/language/index.ts';

const TRIES = 3;
/** Milliseconds before the second attempt; the third comes after twice this time. */
const PAUSE_MS = 2000;
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;

export const webhook = defineComponent({
  name: 'webhook',
  summary: 'Sends a notice to a server, without waiting for the answer.',
  otherNames: ['post_hook'],
  docs: [
    'Sends `POST` with a JSON object: `event`, `scenario`, `run`, `callid`, `ts` and `data`. The scenario goes on at once. A server',
    'that does not answer with a status below 300 is tried again, three times in all, and the log reports the failure. Only hosts',
    'that the operator allows are asked, as with `http`; others fail with `http_forbidden`, without a try.',
  ].join('\n'),
  settings: Type.Object({
    url: Type.String({
      pattern: '^https?://[^\\s]{1,2048}$',
      examples: ['https://crm.example.com/hooks'],
      description: 'The URL.',
    }),
    event: Type.String({ minLength: 1, maxLength: 64, examples: ['voicemail'], description: 'Name of the event.' }),
    data: Type.Record(Type.String(), Type.Any(), { default: {}, description: 'Fields that go with it.' }),
    headers: Type.Record(Type.String(), Type.String(), { default: {}, description: 'Header fields.' }),
  }),
  exits: { next: { description: 'It is on its way.' } },
  results: {},
  method: 'http.webhook',
  subject: 'url',
  request: ({ url }) => `POST ${url}`,
  run: async (context, { url, event, data, headers }) => {
    const { services, scenario, run, domain, clock, log } = context;
    const fields = data as Record<string, Value>;
    const body = { event, scenario, run, domain, callid: callid(context), ts: clock.now(), data: fields };
    const { sent, concealer } = revealed(context.reveal, {
      url,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    try {
      services.http.check?.(sent.url);
    } catch (error) {
      throw concealer.error(error);
    }
    // Continues after the end of the run.
    const { signal } = new AbortController();
    const request = { method: 'POST', ...sent, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, signal, domain };
    void deliver(services.http, request, clock, ({ err, ...problem }, what) =>
      // The URL with names in place of secrets, and an error without secrets.
      log.warn(
        { run, url, ...problem, ...(err === undefined ? {} : { err: concealer.error(err) }) },
        `webhook ${what}`,
      ),
    );
    return { exit: 'next' };
  },
});

function callid(context: ComponentContext): string {
  try {
    return context.call.callid;
  } catch {
    // A run without a call.
    return '';
  }
}

interface Problem {
  readonly attempt: number;
  readonly status?: number;
  readonly err?: unknown;
}

/** @param tell called for every failed attempt */
async function deliver(
  http: HttpPort,
  request: HttpRequest,
  clock: Clock,
  tell: (problem: Problem, what: string) => void,
): Promise<void> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    if (attempt > 1) await clock.sleep(PAUSE_MS * (attempt - 1), request.signal);
    try {
      const { status } = await http.request(request);
      if (status < 300) return;
      tell({ status, attempt }, 'was refused');
    } catch (err) {
      tell({ attempt, err }, 'could not be delivered');
    }
  }
}
