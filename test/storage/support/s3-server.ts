/** A small S3-compatible service that checks signatures (AWS documentation, "Signature Version 4") by code of its own. */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const KEY = 'AKIDEXAMPLE';
const SECRET = 'secret/with+signs';
const REGION = 'eu-test-1';

const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: Uint8Array | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

export class S3Server {
  readonly objects = new Map<string, Buffer>();
  /** What it refused, and why. */
  readonly refused: string[] = [];
  /** Answers every request with this status from now on. */
  failWith: number | undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<S3Server> {
    const server = createServer();
    const s3 = new S3Server(server);
    server.on('request', (request, response) => {
      void s3.#answer(request).then(({ status, body = Buffer.alloc(0), headers = {} }) => {
        response.writeHead(status, { 'content-length': body.length, ...headers }).end(body);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return s3;
  }

  /** For RINGMASTER_FILES. */
  url(secret = SECRET): string {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address is an AddressInfo
    const { port } = this.#server.address() as AddressInfo;
    return `s3://${KEY}:${encodeURIComponent(secret)}@127.0.0.1:${port}/bucket/some/prefix?region=${REGION}&tls=false`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(
    request: IncomingMessage,
  ): Promise<{ status: number; body?: Buffer; headers?: Readonly<Record<string, string>> }> {
    const body = await buffer(request);
    const reason = this.#wrong(request, body);
    if (reason !== undefined) {
      this.refused.push(reason);
      return { status: 403, body: Buffer.from(`<Error><Code>SignatureDoesNotMatch</Code>${reason}</Error>`) };
    }
    if (this.failWith !== undefined) return { status: this.failWith };
    const { url = '', method = '', headers } = request;
    const object = this.objects.get(url);
    switch (method) {
      case 'PUT':
        this.objects.set(url, body);
        return { status: 200 };
      case 'DELETE':
        this.objects.delete(url);
        return { status: 204 };
      default: {
        if (object === undefined) return { status: 404, body: Buffer.from('<Error><Code>NoSuchKey</Code></Error>') };
        const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
        if (start === undefined) return { status: 200, body: object };
        return { status: 206, body: object.subarray(Number(start), Number(end) + 1) };
      }
    }
  }

  #wrong({ headers, method = '', url = '' }: IncomingMessage, body: Buffer): string | undefined {
    if (method === 'PUT' && headers['content-length'] === undefined) return 'PUT without Content-Length';
    const parts =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
        headers.authorization ?? '',
      );
    if (parts === null) return `Authorization: ${headers.authorization}`;
    const [, key, day = '', region = '', signed = '', signature] = parts;
    if (key !== KEY || region !== REGION) return `credential ${key} ${region}`;
    const hash = String(headers['x-amz-content-sha256']);
    if (hash !== sha256(body)) return `x-amz-content-sha256 ${hash}`;
    const time = String(headers['x-amz-date']);
    const names = signed.split(';');
    for (const name of ['host', 'x-amz-date', 'x-amz-content-sha256']) {
      if (!names.includes(name)) return `${name} is not signed`;
    }
    const [path = '', query = ''] = url.split('?');
    const canonical = [
      method,
      path,
      query,
      ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
      '',
      signed,
      hash,
    ].join('\n');
    const scope = `${day}/${region}/s3/aws4_request`;
    const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
    const signing = hmac(hmac(hmac(hmac(`AWS4${SECRET}`, day), region), 's3'), 'aws4_request');
    return hmac(signing, text).toString('hex') === signature ? undefined : 'signature';
  }
}
