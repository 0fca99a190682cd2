// A WebSocket server on ws: an echo, which says how each conversation was agreed on and how it ended.
//
// node ws.js OPTIONS: a JSON object of `perMessageDeflate`; of `mute`, which answers no message and says `heard` instead; and
// of `close`, which is `{ after, later, together, code, reason }`: that number of messages is echoed and the next is answered with a close; or
// the server closes behind each echo, in a write of its own (`later`) or in the same one (`together`). Without `code` its close frame says none.
const { WebSocketServer } = require('ws');

const { perMessageDeflate = false, mute = false, close = {} } = JSON.parse(process.argv[2] || '{}');
const say = (line) => process.stdout.write(line + '\n');
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate });

server.on('listening', () => say(`listening ${server.address().port}`));
server.on('connection', (socket) => {
  let left = close.after ?? Infinity;
  const part = () => (close.code === undefined ? socket.close() : socket.close(close.code, close.reason));
  say(`agreed ${socket.extensions}`);
  socket.on('error', (error) => say(`error ${error.message}`));
  socket.on('close', (code, reason) => say(`closed ${code} ${reason}`.trim()));
  socket.on('message', (message, isBinary) => {
    if (mute) return say('heard');
    if (left === 0) return part();
    left -= 1;
    if (close.together) socket._socket.cork();
    socket.send(message, { binary: isBinary });
    if (close.together) {
      part();
      socket._socket.uncork();
    }
    if (close.later) setImmediate(part);
  });
});
