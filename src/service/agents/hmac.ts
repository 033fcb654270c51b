// The HMAC-SHA256 (RFC 2104) of messages under one key, and the check of a message's code. Short messages
// take two plain hashes, which cost half as much as a `Hmac` object. INVARIANT: the result equals that of
// `createHmac`; a property test holds the two equal.

import { createHmac, hash, timingSafeEqual } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;
const innerPad = 0x36;
const outerPad = 0x5c;

/** Room for the key's block and a short message. It is reused, each time within one synchronous step. */
const room = Buffer.alloc(8 * 1024);
const sent = Buffer.alloc(2 * digestBytes);
const right = Buffer.alloc(2 * digestBytes);

export interface Message {
  /** Text before the body, as UTF-8. */
  readonly head: string;
  readonly body: Uint8Array;
}

/** Returns 64 hexadecimal digits. */
export type HmacOf = (message: Message) => string;

export function createHmacOf(key: Uint8Array): HmacOf {
  const block = Buffer.alloc(blockBytes);
  block.set(key.length > blockBytes ? hash('sha256', key, 'buffer') : key);
  const inner = block.map((byte) => byte ^ innerPad);
  const outer = Buffer.concat([block.map((byte) => byte ^ outerPad), Buffer.alloc(digestBytes)]);

  function ofShort({ head, body }: Message): string {
    room.set(inner);
    const headEnd = blockBytes + room.write(head, blockBytes);
    room.set(body, headEnd);
    outer.write(hash('sha256', room.subarray(0, headEnd + body.length), 'binary'), blockBytes, 'binary');
    return hash('sha256', outer, 'hex');
  }

  return (message) => {
    const { head, body } = message;
    const bytesMax = blockBytes + 3 * head.length + body.length;
    return bytesMax <= room.length
      ? ofShort(message)
      : createHmac('sha256', key).update(head).update(body).digest('hex');
  };
}

/** Whether `hex`, 64 hexadecimal digits, is the right code for the message. */
export type IsHmac = (hex: string, message: Message) => boolean;

export function createHmacCheck(keyText: string): IsHmac {
  const hmacOf = createHmacOf(Buffer.from(keyText));
  return (hex, message) => {
    right.write(hmacOf(message), 'latin1');
    sent.write(hex.toLowerCase(), 'latin1');
    return timingSafeEqual(sent, right);
  };
}
