// One line of JSON is one request: an object to begin with, or a step. The answer is one line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/kedacore/keda/v2/pkg/clock"
	"github.com/kedacore/keda/v2/pkg/scalers"
	"github.com/kedacore/keda/v2/pkg/scaling"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
)

type request struct {
	// Object begins a new world.
	Object *kedav1alpha1.ScaledObject `json:"object,omitempty"`
	// Formula is calculated alone, with the values by their names.
	Formula string             `json:"formula,omitempty"`
	Inputs  map[string]float64 `json:"inputs,omitempty"`

	NowMs    int64      `json:"nowMs"`
	Replicas int32      `json:"replicas"`
	Values   []*float64 `json:"values"`
	// Poll is a round of the scale loop; without it the HPA asks.
	Poll bool `json:"poll"`
}

type answer struct {
	Replicas int32 `json:"replicas"`
	// Metrics has thousandths by the index of the metric; nil for an error.
	Metrics []*int64 `json:"metrics,omitempty"`
	Targets []target `json:"targets,omitempty"`
	Error   string   `json:"error,omitempty"`
}

type target struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

const namespace, name = "shop", "web"

var key = types.NamespacedName{Namespace: namespace, Name: name}

type world struct {
	client  client.Client
	handler scaling.ScaleHandler
	metrics []string
	// Only a fallback counts pods.
	countsPods bool
}

// scales is the subresource of the Deployment.
type scales struct {
	scale.ScaleInterface
	world *world
}

func (s *scales) Scales(string) scale.ScaleInterface { return s }

func (s *scales) deployment(ctx context.Context) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	err := s.world.client.Get(ctx, key, deployment)
	return deployment, err
}

func (s *scales) Get(ctx context.Context, _ schema.GroupResource, _ string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	deployment, err := s.deployment(ctx)
	if err != nil {
		return nil, err
	}
	return &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: *deployment.Spec.Replicas}, Status: autoscalingv1.ScaleStatus{Selector: labels.Set{"app": name}.String()}}, nil
}

func (s *scales) Update(ctx context.Context, _ schema.GroupResource, scale *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	return scale, s.world.setReplicas(ctx, scale.Spec.Replicas)
}

func (w *world) setReplicas(ctx context.Context, replicas int32) error {
	deployment := &appsv1.Deployment{}
	if err := w.client.Get(ctx, key, deployment); err != nil {
		return err
	}
	if *deployment.Spec.Replicas == replicas {
		return nil
	}
	deployment.Spec.Replicas = &replicas
	return w.client.Update(ctx, deployment)
}

func begin(ctx context.Context, asked request) (*world, answer) {
	object := asked.Object
	object.Namespace, object.Name, object.Generation, object.UID = namespace, name, 1, "1"
	object.CreationTimestamp = metav1.NewTime(clock.Now())
	object.TypeMeta = metav1.TypeMeta{APIVersion: "keda.sh/v1alpha1", Kind: "ScaledObject"}
	object.Status.ScaleTargetKind = "apps/v1.Deployment"
	object.Status.ScaleTargetGVKR = &kedav1alpha1.GroupVersionKindResource{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: appsv1.DeploymentSpec{Replicas: &asked.Replicas}}
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	_ = kedav1alpha1.AddToScheme(scheme)
	w := &world{countsPods: object.Spec.Fallback != nil, client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(object, deployment).WithStatusSubresource(object).Build()}
	w.handler = scaling.NewScaleHandler(w.client, &scales{world: w}, scheme, time.Second, time.Second, events.NewFakeRecorder(1_000_000), nil)
	cache, err := w.handler.GetScalersCache(ctx, object.DeepCopy())
	if err != nil {
		return w, answer{Error: err.Error()}
	}
	var targets []target
	for _, spec := range cache.GetMetricSpecForScaling(ctx) {
		of := spec.External.Target
		quantity := of.AverageValue
		if quantity == nil {
			quantity = of.Value
		}
		w.metrics = append(w.metrics, spec.External.Metric.Name)
		targets = append(targets, target{spec.External.Metric.Name, string(of.Type), quantity.String()})
	}
	object.Status.ExternalMetricNames = w.metrics
	// As updateHealthStatus of the reconciler.
	if err := w.client.Status().Update(ctx, object); err != nil {
		return w, answer{Error: err.Error()}
	}
	if object.IsUsingModifiers() {
		w.metrics = []string{kedav1alpha1.CompositeMetricName}
	}
	return w, answer{Replicas: asked.Replicas, Targets: targets}
}

func (w *world) step(ctx context.Context, asked request) answer {
	scalers.Given = asked.Values
	if err := w.setReplicas(ctx, asked.Replicas); err != nil {
		return answer{Error: err.Error()}
	}
	if w.countsPods {
		if err := w.setPods(ctx, int(asked.Replicas)); err != nil {
			return answer{Error: err.Error()}
		}
	}
	var given answer
	if asked.Poll {
		object := &kedav1alpha1.ScaledObject{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		scaling.Poll(ctx, w.handler, object)
	} else {
		for _, metric := range w.metrics {
			list, err := w.handler.GetScaledObjectMetrics(ctx, name, namespace, metric)
			if err != nil || len(list.Items) == 0 {
				given.Metrics = append(given.Metrics, nil)
				continue
			}
			milli := list.Items[0].Value.MilliValue()
			given.Metrics = append(given.Metrics, &milli)
		}
	}
	deployment := &appsv1.Deployment{}
	if err := w.client.Get(ctx, key, deployment); err != nil {
		return answer{Error: err.Error()}
	}
	given.Replicas = *deployment.Spec.Replicas
	return given
}

// setPods makes every replica a ready pod, which the fallback of a trigger with metricType Value counts.
func (w *world) setPods(ctx context.Context, wanted int) error {
	pods := &corev1.PodList{}
	if err := w.client.List(ctx, pods); err != nil {
		return err
	}
	for at := wanted; at < len(pods.Items); at++ {
		if err := w.client.Delete(ctx, &pods.Items[at]); err != nil {
			return err
		}
	}
	for at := len(pods.Items); at < wanted; at++ {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("web-%06d", at), Labels: map[string]string{"app": name}}}
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		if err := w.client.Create(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

// formula asks for the value of a formula as the operator does, through an object.
func formula(ctx context.Context, asked request) answer {
	object := &kedav1alpha1.ScaledObject{}
	object.Spec.ScaleTargetRef = &kedav1alpha1.ScaleTarget{Name: name}
	object.Spec.Advanced = &kedav1alpha1.AdvancedConfig{ScalingModifiers: kedav1alpha1.ScalingModifiers{Formula: asked.Formula, Target: "1"}}
	var values []*float64
	for trigger, value := range asked.Inputs {
		object.Spec.Triggers = append(object.Spec.Triggers, kedav1alpha1.ScaleTriggers{Type: "prometheus", Name: trigger, Metadata: map[string]string{"threshold": "1"}})
		given := value
		values = append(values, &given)
	}
	w, begun := begin(ctx, request{Object: object, Replicas: 1})
	if begun.Error != "" {
		return begun
	}
	return w.step(ctx, request{Replicas: 1, Values: values})
}

func main() {
	ctx := context.Background()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	var w *world
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		clock.Set(time.UnixMilli(asked.NowMs))
		var given answer
		switch {
		case asked.Formula != "":
			given = formula(ctx, asked)
		case asked.Object != nil:
			w, given = begin(ctx, asked)
		default:
			given = w.step(ctx, asked)
		}
		text, _ := json.Marshal(given)
		fmt.Println(string(text))
	}
}
