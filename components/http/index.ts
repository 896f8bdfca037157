import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration, type Value } from '../../runtime/language/index.ts';
import { jsonOf, requestBody, revealed } from './body.ts';

export const http = defineComponent({
  name: 'http',
  summary: 'Asks a server over HTTP.',
  otherNames: ['request', 'fetch', 'rest', 'curl', 'http_request'],
  docs: [
    'Only hosts that the operator allows are asked, and addresses of the node’s own network only where these are allowed, too. A',
    '`body` that is no text is sent as JSON. `json` holds the answer when it is JSON, else it is empty. Name a secret:',
    '`headers: { authorization: "Bearer ${secrets.crm}" }`. The scenario and its trace never see its value, even where the',
    'server repeats it.',
  ].join('\n'),
  settings: Type.Object({
    url: Type.String({
      pattern: '^https?://[^\\s]{1,2048}$',
      examples: ['https://api.example.com/customers'],
      description: 'The URL.',
    }),
    method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'], {
      default: 'GET',
      description: 'The HTTP method.',
    }),
    headers: Type.Record(Type.String(), Type.String(), { default: {}, description: 'Header fields.' }),
    body: Type.Optional(Type.Any({ description: 'The content; sent as JSON when it is no text.' })),
    timeout: Duration({ default: '10s', examples: ['10s'], description: 'For the whole exchange.' }),
    max_bytes: Type.Integer({
      minimum: 1,
      maximum: 1_048_576,
      default: 65_536,
      description: 'Largest answer.',
    }),
  }),
  shorthand: 'url',
  exits: {
    next: { description: 'The server answered with a status below 400.' },
    refused: { description: 'It answered with 400 or above.', otherwise: 'next' },
  },
  results: {
    status: { type: 'integer', description: 'HTTP status.' },
    body: { type: 'string', description: 'The answer as a text.' },
    json: { type: 'any', description: 'The answer as a value, when it is JSON.' },
    headers: {
      type: 'object',
      schema: Type.Record(Type.String(), Type.String()),
      description: 'Header fields, names in lower case.',
    },
  },
  waits: true,
  method: 'http.request',
  subject: 'url',
  request: ({ method, url }) => `${method} ${url}`,
  run: async ({ services, signal, domain, reveal }, settings) => {
    const leaving = { url: settings.url, ...requestBody(settings.headers, settings.body as Value | undefined) };
    const { sent, concealer } = revealed(reveal, leaving);
    const request = {
      method: settings.method,
      ...sent,
      timeoutMs: parseDuration(settings.timeout) ?? 0,
      maxBytes: settings.max_bytes,
      signal,
      domain,
    };
    const { status, headers, body } = await services.http.request(request).catch((error: unknown) => {
      throw concealer.error(error);
    });
    const json = concealer.value(jsonOf(headers['content-type'], body));
    const fields = { status, body: concealer.text(body), json, headers: concealer.value({ ...headers }) };
    return { exit: status < 400 ? 'next' : 'refused', fields };
  },
});
