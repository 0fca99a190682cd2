// A WebSocket server on gorilla/websocket: an echo, which says how many it holds and how much it heard.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/gorilla/websocket"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "where to listen")
	deflate := flag.Bool("deflate", false, "agree to compression")
	protocol := flag.String("protocol", "", "the subprotocol to agree to")
	flag.Parse()
	var open, opened, messages, pings, orderly atomic.Int64
	upgrader := websocket.Upgrader{EnableCompression: *deflate, CheckOrigin: func(*http.Request) bool { return true }}
	if *protocol != "" {
		upgrader.Subprotocols = []string{*protocol}
	}
	http.HandleFunc("/counts", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "{\"open\":%d,\"opened\":%d,\"messages\":%d,\"pings\":%d,\"orderly\":%d}\n",
			open.Load(), opened.Load(), messages.Load(), pings.Load(), orderly.Load())
	})
	http.HandleFunc("/", func(w http.ResponseWriter, request *http.Request) {
		if request.Header.Get("X-Refuse") != "" {
			http.Error(w, "refused", http.StatusForbidden)
			return
		}
		connection, err := upgrader.Upgrade(w, request, nil)
		if err != nil {
			return
		}
		defer connection.Close()
		open.Add(1)
		opened.Add(1)
		defer open.Add(-1)
		pong := connection.PingHandler()
		connection.SetPingHandler(func(text string) error {
			pings.Add(1)
			return pong(text)
		})
		for {
			kind, bytes, err := connection.ReadMessage()
			if err != nil {
				if websocket.IsCloseError(err, websocket.CloseNormalClosure) {
					orderly.Add(1)
				}
				return
			}
			messages.Add(1)
			if connection.WriteMessage(kind, bytes) != nil {
				return
			}
		}
	})
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("listening %s\n", listener.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(listener, nil))
}
