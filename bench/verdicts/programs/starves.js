// A server that accepts one connection in each turn of its loop and needs 10 ms of CPU for each request:
// of 64 users most wait for seconds, behind those that were accepted first. It prints its port.
const server = require('http').createServer((request, response) => {
  const start = process.hrtime.bigint()
  while (process.hrtime.bigint() - start < 10000000n);
  response.end('ok')
})
server.listen(0, '127.0.0.1', () => console.log('port', server.address().port))
