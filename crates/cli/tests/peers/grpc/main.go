// A server of gRPC on grpc-go, for tests and for the comparison with peers.
//
//	grpcpeer serve [-listen 127.0.0.1:0] [-proto DIR] [-log FILE] [-no-reflection] [-only-alpha] [-cert FILE -key FILE]
//	grpcpeer json -proto DIR -message NAME < LINES
//
// serve answers hello.Greeter, zoo.Mirror and ApiServer, as their .proto files in DIR say, without generated code. It
// writes each message that it got as a line of JSON to FILE, and the number of calls to whoever asks for
// http://ADDRESS/calls on the second address that it prints. json writes each line as the same library understands it.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bufbuild/protocompile"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	v1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

var files = []string{"zoo.proto", "zoo/kinds.proto", "hello.proto", "api_server.proto"}

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("serve or json"))
	}
	switch os.Args[1] {
	case "serve":
		fail(serve(os.Args[2:]))
	case "json":
		fail(canonical(os.Args[2:]))
	default:
		fail(fmt.Errorf("unknown verb %q", os.Args[1]))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Known holds what the files describe.
type Known struct{ *protoregistry.Files }

func read(folders []string) (Known, error) {
	known := Known{new(protoregistry.Files)}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: folders}),
	}
	for _, name := range files {
		found, err := compiler.Compile(context.Background(), name)
		if err != nil && strings.Contains(err.Error(), "no such file") {
			continue
		}
		if err != nil {
			return known, err
		}
		for _, file := range found {
			if err := known.add(file); err != nil {
				return known, err
			}
		}
	}
	return known, nil
}

func (k Known) add(file protoreflect.FileDescriptor) error {
	if _, err := k.FindFileByPath(file.Path()); err == nil {
		return nil
	}
	imports := file.Imports()
	for i := 0; i < imports.Len(); i++ {
		if err := k.add(imports.Get(i).FileDescriptor); err != nil {
			return err
		}
	}
	return k.RegisterFile(file)
}

func (k Known) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	found, err := k.FindDescriptorByName(name)
	if err != nil {
		return protoregistry.GlobalTypes.FindMessageByName(name)
	}
	message, ok := found.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, protoregistry.NotFound
	}
	return dynamicpb.NewMessageType(message), nil
}

func (k Known) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	return k.FindMessageByName(protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:]))
}

func (k Known) FindExtensionByName(protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

func (k Known) FindExtensionByNumber(protoreflect.FullName, protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

func (k Known) RangeExtensionsByMessage(protoreflect.FullName, func(protoreflect.ExtensionType) bool) {}

// line is the message as JSON in one line, the same for the same message.
func (k Known) line(message proto.Message) (string, error) {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return "", err
	}
	text, err := protojson.MarshalOptions{Resolver: k}.Marshal(message)
	if err != nil {
		return "", err
	}
	// protojson puts blanks in at random.
	var compact strings.Builder
	inText, escaped := false, false
	for _, each := range string(text) {
		if each == ' ' && !inText {
			continue
		}
		if each == '"' && !escaped {
			inText = !inText
		}
		escaped = each == '\\' && !escaped
		compact.WriteRune(each)
	}
	return fmt.Sprintf("%x %s", bytes, compact.String()), nil
}

func canonical(args []string) error {
	flags := flag.NewFlagSet("json", flag.ExitOnError)
	folder := flags.String("proto", "proto", "")
	name := flags.String("message", "", "")
	flags.Parse(args)
	known, err := read(strings.Split(*folder, ":"))
	if err != nil {
		return err
	}
	kind, err := known.FindMessageByName(protoreflect.FullName(*name))
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		message := kind.New().Interface()
		if err := (protojson.UnmarshalOptions{Resolver: known}).Unmarshal(lines.Bytes(), message); err != nil {
			fmt.Printf("error: %v\n", err)
			continue
		}
		line, err := known.line(message)
		if err != nil {
			return err
		}
		fmt.Println(line)
	}
	return lines.Err()
}

type server struct {
	known Known
	calls atomic.Int64
	mutex sync.Mutex
	log   *bufio.Writer
}

func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:0", "")
	folder := flags.String("proto", "proto", "")
	log := flags.String("log", "", "")
	noReflection := flags.Bool("no-reflection", false, "")
	onlyAlpha := flags.Bool("only-alpha", false, "")
	cert := flags.String("cert", "", "")
	key := flags.String("key", "", "")
	flags.Parse(args)
	known, err := read(strings.Split(*folder, ":"))
	if err != nil {
		return err
	}
	s := &server{known: known}
	if *log != "" {
		file, err := os.Create(*log)
		if err != nil {
			return err
		}
		s.log = bufio.NewWriter(file)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	counter, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	options := []grpc.ServerOption{grpc.UnknownServiceHandler(s.handle)}
	if *cert != "" {
		secure, err := credentials.NewServerTLSFromFile(*cert, *key)
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(secure))
	}
	g := grpc.NewServer(options...)
	if !*noReflection {
		own := reflection.ServerOptions{Services: s, DescriptorResolver: known, ExtensionResolver: known}
		if !*onlyAlpha {
			v1.RegisterServerReflectionServer(g, reflection.NewServerV1(own))
		}
		v1alpha.RegisterServerReflectionServer(g, reflection.NewServer(own))
	}
	go http.Serve(counter, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mutex.Lock()
		if s.log != nil {
			s.log.Flush()
		}
		s.mutex.Unlock()
		fmt.Fprintln(w, s.calls.Load())
	}))
	fmt.Println(listener.Addr(), counter.Addr())
	return g.Serve(listener)
}

// GetServiceInfo is what reflection lists.
func (s *server) GetServiceInfo() map[string]grpc.ServiceInfo {
	all := map[string]grpc.ServiceInfo{}
	s.known.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := 0; i < file.Services().Len(); i++ {
			all[string(file.Services().Get(i).FullName())] = grpc.ServiceInfo{}
		}
		return true
	})
	return all
}

func (s *server) note(message proto.Message) {
	if s.log == nil {
		return
	}
	line, err := s.known.line(message)
	if err != nil {
		line = "error: " + err.Error()
	}
	s.mutex.Lock()
	fmt.Fprintln(s.log, line)
	s.mutex.Unlock()
}

func (s *server) handle(_ any, stream grpc.ServerStream) error {
	path, _ := grpc.MethodFromServerStream(stream)
	service, name, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	found, err := s.known.FindDescriptorByName(protoreflect.FullName(service))
	owner, ok := found.(protoreflect.ServiceDescriptor)
	if err != nil || !ok || owner.Methods().ByName(protoreflect.Name(name)) == nil {
		return status.Errorf(codes.Unimplemented, "unknown method %s", path)
	}
	method := owner.Methods().ByName(protoreflect.Name(name))
	s.calls.Add(1)
	if asked, ok := metadata.FromIncomingContext(stream.Context()); ok && len(asked.Get("x-mirror")) > 0 {
		keys := []string{}
		for key, values := range asked {
			if strings.HasPrefix(key, "x-") {
				keys = append(keys, key+"="+strings.Join(values, ","))
			}
		}
		sort.Strings(keys)
		deadline := "none"
		if until, ok := stream.Context().Deadline(); ok {
			deadline = time.Until(until).Round(time.Second).String()
		}
		return status.Errorf(codes.FailedPrecondition, "%s deadline %s", strings.Join(keys, " "), deadline)
	}
	input := func() *dynamicpb.Message { return dynamicpb.NewMessage(method.Input()) }
	if service == "zoo.Mirror" {
		for {
			message := input()
			if err := stream.RecvMsg(message); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			s.note(message)
			if err := stream.SendMsg(message); err != nil {
				return err
			}
			if !method.IsStreamingClient() {
				return nil
			}
		}
	}
	return s.greet(stream, method, input)
}

func (s *server) greet(stream grpc.ServerStream, method protoreflect.MethodDescriptor, input func() *dynamicpb.Message) error {
	number := func(message *dynamicpb.Message, name protoreflect.Name) uint64 {
		field := message.Descriptor().Fields().ByName(name)
		if field == nil {
			return 0
		}
		return message.Get(field).Uint()
	}
	reply := func(text string) error {
		answer := dynamicpb.NewMessage(method.Output())
		name := protoreflect.Name("message")
		if method.Output().Fields().ByName(name) == nil {
			name = "msg"
		}
		answer.Set(method.Output().Fields().ByName(name), protoreflect.ValueOfString("Hello "+text))
		return stream.SendMsg(answer)
	}
	var names []string
	for {
		message := input()
		if err := stream.RecvMsg(message); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		s.note(message)
		name := message.Get(method.Input().Fields().ByNumber(1)).String()
		if delay := number(message, "delay_ms"); delay > 0 {
			select {
			case <-time.After(time.Duration(delay) * time.Millisecond):
			case <-stream.Context().Done():
				return status.FromContextError(stream.Context().Err()).Err()
			}
		}
		if code := number(message, "status"); code > 0 {
			return status.Error(codes.Code(code), "as asked for")
		}
		switch {
		case method.IsStreamingClient() && method.IsStreamingServer():
			if err := reply(name); err != nil {
				return err
			}
		case method.IsStreamingClient():
			names = append(names, name)
		case method.IsStreamingServer():
			for i := uint64(0); i < number(message, "replies"); i++ {
				if gap := number(message, "gap_ms"); gap > 0 && i > 0 {
					time.Sleep(time.Duration(gap) * time.Millisecond)
				}
				if err := reply(name); err != nil {
					return err
				}
			}
			return nil
		default:
			return reply(name)
		}
	}
	if method.IsStreamingServer() {
		return nil
	}
	return reply(strings.Join(names, ", "))
}
